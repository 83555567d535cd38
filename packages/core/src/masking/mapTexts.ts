import { DevsError } from '../errors/DevsError.ts';
import type { Work } from './inTurns.ts';

/** What a value is made of: its parts, each with the name it stands under, and how they are put together again. */
export interface Parts {
  readonly items: readonly unknown[];
  readonly nameOf: (index: number) => string;
  readonly build: (items: readonly unknown[]) => unknown;
}

export interface TextMap {
  /** A text that stands under a name; `''` for none. */
  readonly text: (text: string, name: string) => string | Work<string>;
  /** `null` for what is left as it is. */
  readonly partsOf: (value: object, name: string) => Parts | null;
}

interface Open extends Parts {
  readonly value: object;
  readonly done: unknown[];
}

/**
 * A value with its texts replaced, from first to last. Without recursion: how deep a value is nested is up to whoever made it.
 *
 * @throws DevsError `VALUE_TOO_LARGE` for a value that contains itself.
 */
export function* mapTexts(root: unknown, name: string, { text, partsOf }: TextMap): Work<unknown> {
  const open: Open[] = [];
  const within = new Set<object>();
  let [value, under] = [root, name];
  for (;;) {
    const parts = typeof value === 'object' && value !== null ? partsOf(value, under) : null;
    if (parts !== null) {
      if (within.has(value as object)) throw containsItself();
      within.add(value as object);
      open.push({ ...parts, value: value as object, done: [] });
    } else {
      const mapped = typeof value === 'string' ? text(value, under) : value;
      const result = isWork(mapped) ? yield* mapped : mapped;
      yield;
      if (open.length === 0) return result;
      open.at(-1)?.done.push(result);
    }
    for (let last = open.at(-1); last?.done.length === last?.items.length; last = open.at(-1)) {
      if (last === undefined) break;
      open.pop();
      within.delete(last.value);
      const built = last.build(last.done);
      if (open.length === 0) return built;
      open.at(-1)?.done.push(built);
    }
    const { items, nameOf, done } = open.at(-1) as Open;
    value = items[done.length];
    under = nameOf(done.length);
  }
}

/** Members of an object or a map: the name of each is a text as well, and its value stands under it. */
export function membersOf(
  entries: readonly (readonly [name: unknown, value: unknown])[],
): Omit<Parts, 'build'> {
  const nameOf = (index: number): string => {
    const name = index % 2 === 0 ? '' : entries[(index - 1) / 2]?.[0];
    return typeof name === 'string' ? name : '';
  };
  return { items: entries.flat(1), nameOf };
}

/** What {@link membersOf} took apart. */
export const pairsOf = (items: readonly unknown[]): readonly (readonly [unknown, unknown])[] =>
  Array.from({ length: items.length / 2 }, (_, at) => [items[2 * at], items[2 * at + 1]]);

/** As `Object.fromEntries`: `__proto__` is a name as every other. */
export const objectOf = (items: readonly unknown[]): object =>
  Object.fromEntries(pairsOf(items) as readonly (readonly [string, unknown])[]);

const isWork = (mapped: unknown): mapped is Work<string> =>
  typeof mapped === 'object' && mapped !== null && Symbol.iterator in mapped && 'next' in mapped;

function containsItself(): DevsError {
  return new DevsError('The value contains itself.', {
    code: 'VALUE_TOO_LARGE',
    remedy: 'Give a value without cycles: ids that refer to each other.',
  });
}
