import { isDevsError } from '../errors/DevsError.ts';
import { canonicalJson } from './canonicalJson.ts';

/** Characters of JSON of one channel that a gate shows: what is longer is read from the run. */
const MAX_SHOWN = 64 * 1024;

/** A state as a human reads it: JSON, also of what JSON has no word for. */
export function showableValues(values: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, showableValue(value)]));
}

function showableValue(value: unknown): unknown {
  const json = safeJson(value);
  if (json === null) return '(cannot be shown)';
  if (json.length > MAX_SHOWN) return `(${json.length} characters)`;
  const plain: unknown = JSON.parse(json);
  try {
    canonicalJson(plain);
    return plain;
  } catch (error) {
    if (isDevsError(error)) return '(cannot be shown)';
    throw error;
  }
}

function safeJson(value: unknown): string | null {
  try {
    return JSON.stringify(value, asJson) ?? 'null';
  } catch {
    return null; // a cycle, or a class that cannot say what it is
  }
}

function asJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value];
  return value;
}
