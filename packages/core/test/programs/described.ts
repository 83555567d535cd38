const MADE_UP =
  /\b([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|session_[\da-f]{8}|\d{4}-\d\d-\d\dT[\d:.]{12}Z)\b/gu;

/**
 * A value in plain words that tell its class, so that equal words are equal values. Ids and moments that are made up in
 * each run are left out.
 */
export function described(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(MADE_UP, 'made up');
  if (value === undefined) return { undefined: true };
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(described);
  if (value instanceof Date) return { Date: value.getTime() };
  if (value instanceof Map) return { Map: [...value].map(described) };
  if (value instanceof Set) return { Set: [...value].map(described) };
  if (value instanceof Uint8Array) return { Uint8Array: [...value] };
  const entries = Object.entries(value).map(
    ([key, each]) => [key.replace(MADE_UP, 'made up'), described(each)] as const,
  );
  const name = (Object.getPrototypeOf(value) as object | null)?.constructor.name ?? 'null';
  return name === 'Object' ? Object.fromEntries(entries) : { [name]: Object.fromEntries(entries) };
}
