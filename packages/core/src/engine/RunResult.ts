import type { DriveOutcome } from './drive/outcome.ts';
import type { RunError } from './drive/runError.ts';
import type { Gate } from './Gate.ts';
import type { Awaited } from './waits/openWaits.ts';

export interface RunEnd extends Awaited {
  readonly status: DriveOutcome['status'];
  readonly reason: string | null;
  /** What the run has failed with, where this drive ended with it. */
  readonly error?: RunError;
}

/** Where a run stands after `run`: its outcome, the gates it waits at and the output that its graph has now. */
export type RunResult<Output> = RunEnd & {
  readonly gates: readonly Gate[];
  /**
   * What the graph's output schema has, as LangGraph's `invoke` returns it; `app.values()` has all of the state. `null` before
   * the first checkpoint. Of an earlier turn, what it has left; `null` once that was pruned away.
   */
  readonly values: Output | null;
  /** Key of the turn that this is told of; absent where it has none. */
  readonly turn?: string;
};
