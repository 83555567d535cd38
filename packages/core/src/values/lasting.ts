import { types } from 'node:util';

// A value that can never change is searched, checked and serialized once, however often it is written: of a plan of a thousand
// tasks a step changes one.

/** Levels of arrays and objects; what is nested deeper is not made lasting. */
const MAX_DEPTH = 100;

const lasting = new WeakSet<object>();

/** Whether a value is plain data that {@link makeLasting} has frozen. */
export function isLasting(value: unknown): value is object {
  return typeof value === 'object' && value !== null && lasting.has(value);
}

/**
 * Freezes plain data all the way down: objects without accessors, lists, texts, numbers. What holds anything else is left as
 * it is.
 *
 * @returns Whether the value can never change now.
 */
export function makeLasting(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value === 'function') return false;
  if (typeof value !== 'object' || value === null || lasting.has(value)) return true;
  if (levels === 0 || types.isProxy(value)) return false;
  const parts = lastingParts(value);
  if (parts === null || !parts.every((part) => makeLasting(part, levels - 1))) return false;
  lasting.add(Object.freeze(value));
  return true;
}

/** What follows from a value, worked out once where it is a lasting one. */
export function onceForLasting<Value extends object, Result>(
  work: (value: Value) => Result,
): (value: Value) => Result {
  const results = new WeakMap<Value, { readonly result: Result }>();
  return (value) => {
    const known = results.get(value);
    if (known !== undefined) return known.result;
    const result = work(value);
    if (lasting.has(value)) results.set(value, { result });
    return result;
  };
}

/** The same text as `JSON.stringify`, of a lasting value: of a list it is put together from those of its items. */
export const lastingJson: (value: object) => string = onceForLasting((value) =>
  Array.isArray(value) && value.every(isLasting)
    ? `[${value.map(lastingJson).join(',')}]`
    : JSON.stringify(value),
);

/** `null` for a list with holes or properties beside its items, for accessors, and for what only a class knows. */
function lastingParts(value: object): readonly unknown[] | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    const isList = prototype === Array.prototype && Object.keys(value).length === value.length;
    return isList ? value : null;
  }
  const properties = Object.values(Object.getOwnPropertyDescriptors(value));
  const isPlain = prototype === Object.prototype && properties.every((each) => 'value' in each);
  return isPlain ? properties.map((each) => each.value as unknown) : null;
}
