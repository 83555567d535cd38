import type { Runs } from '../../../core/src/engine/runs/Runs.ts';

/** A place of runs with two who use it at once, as two processes do. */
export interface RunsUnderTest {
  readonly runs: Runs;
  /** The same place, with nothing in common but that. */
  readonly elsewhere: Runs;
  /** Whoever holds a run is gone, as far as anybody can know: resolves when it can be held by others. */
  free(id: string): Promise<void>;
}

/** One promise of the port. */
export interface RunsCase {
  /** A sentence that says what holds. */
  readonly name: string;
  /** @throws AssertionError where it does not hold. */
  readonly check: (made: RunsUnderTest) => Promise<void>;
}
