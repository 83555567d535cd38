/** Where the most of a value is, and how much: characters of text and bytes, about as they are stored. */
interface Weight {
  readonly amount: number;
  readonly path: string;
}

/** Levels that are looked at: what is below counts nothing. */
const MAX_LEVELS = 200;

/** Characters of a path in a message. */
export const MAX_PATH_LENGTH = 200;

/** What a number, a boolean and the marks around a value take. */
const SMALL = 4;

/**
 * Where the most of a large value is, for its refusal: down to the last place that has more than half of it all, such as
 * `messages[3].content`.
 *
 * @param root - What the value itself is called.
 * @returns `undefined` where no part of it has so much.
 */
export function heaviestPlace(value: unknown, root: string): string | undefined {
  const { path } = weightOf(value, MAX_LEVELS);
  return path === '' ? undefined : `${root}${path}`.slice(0, MAX_PATH_LENGTH);
}

function weightOf(value: unknown, levels: number): Weight {
  if (typeof value === 'string') return { amount: value.length, path: '' };
  if (typeof value !== 'object' || value === null || levels === 0) return { amount: SMALL, path: '' };
  if (value instanceof Uint8Array) return { amount: value.byteLength, path: '' };
  return heaviestOf(memberEntries(value), levels - 1);
}

function heaviestOf(members: Iterable<readonly [place: string, member: unknown]>, levels: number): Weight {
  let amount = SMALL;
  let most: Weight = { amount: 0, path: '' };
  for (const [place, member] of members) {
    const weight = weightOf(member, levels);
    amount += weight.amount;
    if (weight.amount > most.amount) most = { amount: weight.amount, path: `${place}${weight.path}` };
  }
  return { amount, path: most.amount * 2 > amount ? most.path : '' };
}

function* memberEntries(value: object): Generator<readonly [string, unknown]> {
  if (Array.isArray(value) || value instanceof Set) {
    let at = 0;
    for (const item of value) yield [`[${at++}]`, item];
  } else if (value instanceof Map) {
    for (const [key, item] of value) yield [`[${JSON.stringify(key)}]`, item];
  } else {
    // What LangChain's instances were made of is there a second time as their fields.
    for (const [key, item] of Object.entries(value)) if (key !== 'lc_kwargs') yield [`.${key}`, item];
  }
}
