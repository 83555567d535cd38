import {
  type EntropyPart,
  FRESH,
  REPEAT,
  type ReadTurn,
  SILENT,
  Sightings,
  type Sign,
  type Watch,
} from '../EntropyPart.ts';

/** Characters from which an output tells enough to be compared without its action: `ok` follows every edit. */
const TELLING = 40;

/** The same output on other files says less: a linter is content after every edit. */
const ON_OTHER_FILES: Sign = { kind: 'repeat', strength: 0.5 };

class SameOutput implements Watch {
  readonly #seen = new Sightings();
  readonly #trees = new Map<string, string | null>();
  #last = '';

  observe({ output, action, tree, number }: ReadTurn): Sign {
    if (output === null) return SILENT;
    const key = output.length >= TELLING ? output : JSON.stringify([action, output]);
    const before = this.#seen.add(key, number);
    const lastTree = this.#trees.get(key);
    this.#trees.set(key, tree);
    if (before.length === 0) return FRESH;
    this.#last = key;
    return tree !== null && tree !== lastTree ? ON_OTHER_FILES : REPEAT;
  }

  evidence(): string {
    return `the same output ${this.#seen.told(this.#last)}`;
  }
}

/**
 * An output seen before in the trace, but for ids, times and durations. Strong enough to trip alone: five equal
 * answers carry no more than one.
 */
export const sameOutput: EntropyPart = {
  name: 'same_output',
  weight: 0.95,
  gain: 0.4,
  keep: 0.5,
  start: () => new SameOutput(),
};
