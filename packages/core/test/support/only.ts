/** The one item of a list a test expects to have exactly one. */
export function only<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined || items.length !== 1)
    throw new RangeError(`Expected one item, got ${items.length}.`);
  return item;
}
