type FilteredItem = Readonly<Record<string, unknown>>;
type Compare = (found: unknown, wanted: unknown) => boolean;

const OPERATORS: Readonly<Record<string, Compare>> = {
  $eq: (found, wanted) => found === wanted,
  $ne: (found, wanted) => found !== wanted,
  $gt: (found, wanted) => Number(found) > Number(wanted),
  $gte: (found, wanted) => Number(found) >= Number(wanted),
  $lt: (found, wanted) => Number(found) < Number(wanted),
  $lte: (found, wanted) => Number(found) <= Number(wanted),
  $in: (found, wanted) => Array.isArray(wanted) && wanted.includes(found),
  $nin: (found, wanted) => !Array.isArray(wanted) || !wanted.includes(found),
};

/**
 * Whether an item's value is as a filter wants it, field by field, as LangGraph's own store decides: equal to a plain
 * value, or as each of its operators says. The ordering ones compare numbers.
 */
export function matchesFilter(value: FilteredItem, filter: FilteredItem = {}): boolean {
  return Object.entries(filter).every(([field, wanted]) => matches(value[field], wanted));
}

function matches(found: unknown, wanted: unknown): boolean {
  if (!isOperators(wanted)) return found === wanted;
  return Object.entries(wanted).every(([name, operand]) => OPERATORS[name]?.(found, operand));
}

function isOperators(wanted: unknown): wanted is FilteredItem {
  if (typeof wanted !== 'object' || wanted === null) return false;
  return Object.keys(wanted).every((name) => Object.hasOwn(OPERATORS, name));
}
