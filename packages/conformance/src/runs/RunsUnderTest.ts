import type { Runs } from '../../../core/src/engine/runs/Runs.ts';

/** A place of runs with two users at once, as two processes are. */
export interface RunsUnderTest {
  readonly runs: Runs;
  /** The same place; they share only that. */
  readonly elsewhere: Runs;
  /** The holder of a run is gone, as far as others can know. Resolves when they can hold it. */
  free(id: string): Promise<void>;
}

/** One promise of the port. */
export interface RunsCase {
  /** The promise as a sentence. */
  readonly name: string;
  /** @throws AssertionError where it does not hold. */
  readonly check: (made: RunsUnderTest) => Promise<void>;
}
