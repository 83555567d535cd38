/** Turn numbers named in an evidence text; the rest is counted. */
const NUMBERS_SHOWN = 6;

/** Where each key of a trace was seen, by turn number. */
export class Sightings {
  readonly #turns = new Map<string, number[]>();

  /** Notes a sighting; returns the numbers of the earlier ones, oldest first. */
  add(key: string, turn: number): readonly number[] {
    const before = this.#turns.get(key) ?? [];
    this.#turns.set(key, [...before.slice(-NUMBERS_SHOWN), turn]);
    return before;
  }

  /** `4 times (turns 2, 3, 5, 6)`. */
  told(key: string): string {
    const turns = this.#turns.get(key) ?? [];
    if (turns.length <= NUMBERS_SHOWN) return `${turns.length} times (turns ${turns.join(', ')})`;
    return `more than ${NUMBERS_SHOWN} times (turns ${turns.slice(-NUMBERS_SHOWN).join(', ')})`;
  }
}
