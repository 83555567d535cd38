import {
  type EntropyPart,
  FRESH,
  REPEAT,
  type ReadTurn,
  SILENT,
  type Sign,
  type Watch,
} from '../EntropyPart.ts';

/** The longest circle that is looked for. */
const LONGEST = 4;

class Alternation implements Watch {
  #recent: readonly string[] = [];
  #last = 0;

  observe({ exchange }: ReadTurn): Sign {
    this.#recent = [...this.#recent, exchange].slice(-2 * LONGEST);
    if (this.#recent.length < 4) return SILENT;
    const period = periodOf(this.#recent);
    if (period === null) return FRESH;
    this.#last = period;
    return REPEAT;
  }

  evidence(): string {
    return `the last ${this.#last} turns are the ${this.#last} before them again`;
  }
}

/** Length of the shortest circle that the end of a trace has gone round twice; of one is no alternation. */
function periodOf(exchanges: readonly string[]): number | null {
  for (let period = 2; period <= LONGEST && 2 * period <= exchanges.length; period += 1) {
    const end = exchanges.slice(-period);
    const before = exchanges.slice(-2 * period, -period);
    const isCircle = end.some((exchange) => exchange !== end[0]);
    if (isCircle && end.every((exchange, index) => exchange === before[index])) return period;
  }
  return null;
}

/** A-B-A-B, or a circle of three or four turns. Alone it does not trip: what comes back is seen by other parts too. */
export const alternation: EntropyPart = {
  name: 'alternation',
  weight: 0.7,
  gain: 0.45,
  keep: 0.5,
  start: () => new Alternation(),
};
