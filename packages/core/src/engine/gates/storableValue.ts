import { Document } from '@langchain/core/documents';
import { isBaseMessage } from '@langchain/core/messages';

/** Levels that are looked at: what is deeper, as a cycle is, is left for the hash to refuse. */
const MAX_DEPTH = 1_000;

/**
 * A value as a gate shows and hashes it: plain JSON of what LangGraph's serializer takes. What JSON has no word for is
 * said in one, `{ date: '1970-01-01T00:00:00.000Z' }`; what nobody could read, such as a function, is left for the hash
 * to refuse.
 */
export function storableValue(value: unknown, levels = MAX_DEPTH): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) };
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  const inside = levels - 1;
  if (Array.isArray(value)) return sameOr(value, storableItems(value, inside));
  if (isPlainJsonObject(value)) return storableFields(value, inside);
  return storableInstance(value, inside);
}

const storableItems = (items: readonly unknown[], levels: number): readonly unknown[] =>
  items.map((item) => storableValue(item, levels));

function storableInstance(value: object, levels: number): unknown {
  if (value instanceof Date) return { date: Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString() };
  if (value instanceof Map) return { map: storableItems([...value], levels) };
  if (value instanceof Set) return { set: storableItems([...value], levels) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  if (isBaseMessage(value)) return { [value.type]: storableFields({ ...value.toDict().data }, levels) };
  if (value instanceof Document) return { document: storableFields({ ...value }, levels) };
  return value;
}

function storableFields(fields: object, levels: number): object {
  const entries = Object.entries(fields) as [string, unknown][];
  const shown = entries.map(([name, field]) => [name, storableValue(field, levels)] as const);
  return shown.every(([, field], at) => field === entries[at]?.[1]) ? fields : Object.fromEntries(shown);
}

/** The very list where nothing in it has to be said in other words: what the hash refuses in it stays refused. */
const sameOr = (items: readonly unknown[], shown: readonly unknown[]): readonly unknown[] =>
  shown.every((item, at) => item === items[at]) ? items : shown;

function isPlainJsonObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
