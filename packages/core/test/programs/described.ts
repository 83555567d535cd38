const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * A value in plain words that tell its class, so that equal words are equal values. Ids that are made up in each run and
 * the digits of a call's place are left out.
 */
export function described(value: unknown): unknown {
  if (typeof value === 'string') return UUID.test(value) ? 'made up' : value;
  if (value === undefined) return { undefined: true };
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(described);
  if (value instanceof Date) return { Date: value.getTime() };
  if (value instanceof Map) return { Map: [...value].map(described) };
  if (value instanceof Set) return { Set: [...value].map(described) };
  if (value instanceof Uint8Array) return { Uint8Array: [...value] };
  const entries = Object.entries(value).map(([key, each]) => [key, described(each)] as const);
  const name = (Object.getPrototypeOf(value) as object | null)?.constructor.name ?? 'null';
  return name === 'Object' ? Object.fromEntries(entries) : { [name]: Object.fromEntries(entries) };
}
