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

class SameError implements Watch {
  readonly #seen = new Sightings();
  #last = '';

  observe({ error, number }: ReadTurn): Sign {
    if (error === null) return SILENT;
    if (this.#seen.add(error, number).length === 0) return FRESH;
    this.#last = error;
    return REPEAT;
  }

  evidence(): string {
    return `the same error ${this.#seen.told(this.#last)}: ${shortError(this.#last)}`;
  }
}

const shortError = (text: string): string => (text.length <= 120 ? text : `${text.slice(0, 119)}…`);

/**
 * An error whose fingerprint was seen before, whatever was done to meet it. Three in a row are the pivot's; four trip.
 */
export const sameError: EntropyPart = {
  name: 'same_error',
  weight: 0.9,
  gain: 0.5,
  keep: 0.5,
  start: () => new SameError(),
};
