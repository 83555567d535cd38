import type { CheckRequest, CheckResult, Checks } from '@devs/core';
import { failuresOf } from '@devs/core/internal';

/**
 * Repeats failing checks, so that flaky tests do not reject work. Stops at the first pass, and after two equal
 * failures. Reports cases that failed and then passed on the same tree.
 *
 * @example
 * ```ts
 * const checks = new SteadyChecks(new CommandChecks({ argv: ['npm', 'test'] }), 2);
 * ```
 */
export class SteadyChecks implements Checks {
  readonly #checks: Checks;
  readonly #retries: number;
  /** Where a red is due, only a project that has been flaky is asked again. */
  #hasBeenFlaky = false;
  /** Then a run that tells none fell over something before its tests. */
  #tellsCases = false;

  /**
   * @param retries - Most repetitions; 0 for none.
   * @throws RangeError for an invalid count.
   */
  constructor(checks: Checks, retries: number) {
    if (!Number.isSafeInteger(retries) || retries < 0) {
      throw new RangeError(`retries must be a whole number from 0, got ${retries}.`);
    }
    this.#checks = checks;
    this.#retries = retries;
  }

  async run(request: CheckRequest): Promise<CheckResult> {
    const runs = [await this.#checks.run(request)];
    while (this.#isWorthARun(runs, request)) runs.push(await this.#checks.run(request));
    const last = runs.at(-1) as CheckResult;
    this.#tellsCases ||= runs.some(hasCases);
    const flaky = flakyIn(runs);
    if (flaky.length === 0) return last;
    this.#hasBeenFlaky = true;
    return { ...last, flaky, output: `${last.output}\n${runs.length} runs; flaky: ${flaky.join('; ')}` };
  }

  /** @throws TypeError if the checks cannot run another command. */
  async runCommand(argv: readonly string[], request: CheckRequest): Promise<CheckResult> {
    if (this.#checks.runCommand === undefined) throw new TypeError('The checks cannot run another command.');
    return this.#checks.runCommand(argv, request);
  }

  #isWorthARun(runs: readonly CheckResult[], { expect, signal }: CheckRequest): boolean {
    const last = runs.at(-1) as CheckResult;
    if (last.passed || last.timedOut || last.missing !== undefined || signal.aborted) return false;
    if (runs.length > this.#retries) return false;
    const fellOver = this.#tellsCases && !hasCases(last);
    if (expect === 'fail' && !this.#hasBeenFlaky && !fellOver) return false;
    return !runs.slice(0, -1).some((run) => failedAlike(run, last));
  }
}

const hasCases = ({ cases = [] }: CheckResult): boolean => cases.length > 0;

const failedAlike = (one: CheckResult, other: CheckResult): boolean =>
  failuresOf(one).toSorted().join('\n') === failuresOf(other).toSorted().join('\n');

/** What failed in one run, and in another passed. */
function flakyIn(runs: readonly CheckResult[]): readonly string[] {
  const failed = new Set(runs.flatMap((run) => failuresOf(run)));
  return [...failed].filter((name) => runs.some((run) => hasPassed(run, name)));
}

function hasPassed({ passed, cases = [] }: CheckResult, name: string): boolean {
  return passed || cases.some((found) => found.name === name && found.state === 'passed');
}
