import {
  type EntropyPart,
  FRESH,
  PROGRESS,
  REPEAT,
  type ReadTurn,
  SILENT,
  Sightings,
  type Sign,
  type TestCounts,
  type Watch,
} from '../EntropyPart.ts';

class SameTestResults implements Watch {
  readonly #seen = new Sightings();
  #best: TestCounts | null = null;
  #last = '';

  observe({ tests, testsKey, number }: ReadTurn): Sign {
    if (tests === null || testsKey === null) return SILENT;
    const isSeen = this.#seen.add(testsKey, number).length > 0;
    if (this.#improves(tests)) return PROGRESS;
    // Green again and again is how a refactoring looks.
    if (tests.failed === 0) return SILENT;
    if (!isSeen) return FRESH;
    this.#last = testsKey;
    return REPEAT;
  }

  evidence(): string {
    return `the same failing tests ${this.#seen.told(this.#last)}`;
  }

  /** True when fewer fail than ever, or more pass with no more failing than at best. */
  #improves({ passed, failed }: TestCounts): boolean {
    const best = this.#best;
    const improves =
      best !== null && (failed < best.failed || (passed > best.passed && failed <= best.failed));
    this.#best = {
      passed: Math.max(passed, best?.passed ?? 0),
      failed: Math.min(failed, best?.failed ?? failed),
    };
    return improves;
  }
}

/**
 * Red tests that are red as before, whatever was edited in between. Alone it does not trip: hard tests take several
 * attempts. Fewer failures than ever are the one proof of progress a trace holds, and lower every part.
 */
export const sameTestResults: EntropyPart = {
  name: 'same_test_results',
  weight: 0.75,
  gain: 0.45,
  keep: 0.7,
  start: () => new SameTestResults(),
};
