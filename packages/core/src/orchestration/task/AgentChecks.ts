import type { CheckResult, FileEdit, OfferedChecks } from '../ports.ts';

type Judge = (edits: readonly FileEdit[]) => Promise<CheckResult>;

/** Checks that one call of an agent may run: one after the other, so often, and only while it lasts. */
export class AgentChecks implements OfferedChecks {
  readonly limit: number;
  readonly #judge: Judge;
  #last: Promise<unknown> = Promise.resolve();
  #runs = 0;
  #isOver = false;

  constructor(limit: number, judge: Judge) {
    this.limit = limit;
    this.#judge = judge;
  }

  async run(edits: readonly FileEdit[]): Promise<CheckResult> {
    if (this.#isOver) throw new RangeError('Expected checks to be run within the call, which has ended.');
    this.#runs += 1;
    if (this.#runs > this.limit) {
      throw new RangeError(`Expected at most ${this.limit} runs of the checks within one call.`);
    }
    const before = this.#last;
    const said = before.then(() => this.#judge(edits));
    this.#last = said.catch(() => undefined);
    return said;
  }

  /** Resolves when none is running; none is begun any more. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#last;
  }
}
