import {
  type EntropyPart,
  FRESH,
  REPEAT,
  type ReadTurn,
  SILENT,
  type Sign,
  type Watch,
} from '../EntropyPart.ts';

class UndoneEdits implements Watch {
  readonly #firstSeen = new Map<string, number>();
  #tree: string | null = null;
  #last = { number: 0, as: 0 };

  observe({ tree, number }: ReadTurn): Sign {
    if (tree === null || tree === this.#tree) return SILENT;
    this.#tree = tree;
    const as = this.#firstSeen.get(tree);
    if (as === undefined) {
      this.#firstSeen.set(tree, number);
      return FRESH;
    }
    this.#last = { number, as };
    return REPEAT;
  }

  evidence(): string {
    return `after turn ${this.#last.number} the files are again as after turn ${this.#last.as}`;
  }
}

/** The files go back to what they were. Once is a change of mind, four times in a row trip alone. */
export const undoneEdits: EntropyPart = {
  name: 'undone_edits',
  weight: 0.85,
  gain: 0.45,
  keep: 0.5,
  start: () => new UndoneEdits(),
};
