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

/**
 * A value with its texts replaced, from first to last. Without recursion: how deep a value is nested is up to whoever made it.
 *
 * @throws DevsError `VALUE_TOO_LARGE` for a value that contains itself.
 */
export function* mapTexts(root: unknown, name: string, { text, partsOf }: TextMap): Work<unknown> {
  const walk = new TextWalk();
  let [value, under] = [root, name];
  for (;;) {
    const parts = typeof value === 'object' && value !== null ? partsOf(value, under) : null;
    if (parts !== null) walk.enter(value as object, parts);
    else {
      const mapped = typeof value === 'string' ? text(value, under) : value;
      walk.put(isWork(mapped) ? yield* mapped : mapped);
      yield;
    }
    const whole = walk.leave();
    if (whole !== null) return whole.result;
    [value, under] = walk.next();
  }
}

interface OpenValue extends Parts {
  readonly value: object;
  readonly done: unknown[];
}

/** The values that are being put together, the innermost last. */
class TextWalk {
  readonly #open: OpenValue[] = [];
  readonly #within = new Set<object>();
  #whole: { readonly result: unknown } | null = null;

  enter(value: object, parts: Parts): void {
    if (this.#within.has(value)) throw containsItself();
    this.#within.add(value);
    this.#open.push({ ...parts, value, done: [] });
  }

  /** Says what the next part became. */
  put(result: unknown): void {
    const last = this.#open.at(-1);
    if (last === undefined) this.#whole = { result };
    else last.done.push(result);
  }

  /** Puts together what has all its parts; `null` while the root has not. */
  leave(): { readonly result: unknown } | null {
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) {
      if (last.done.length < last.items.length) return null;
      this.#open.pop();
      this.#within.delete(last.value);
      this.put(last.build(last.done));
    }
    return this.#whole;
  }

  /** The next part, and its name. */
  next(): [value: unknown, name: string] {
    const { items, nameOf, done } = this.#open.at(-1) as OpenValue;
    return [items[done.length], nameOf(done.length)];
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
