import type { DriveOutcome } from './drive/outcome.ts';
import type { RunError } from './drive/runError.ts';
import type { Gate } from './Gate.ts';
import type { Awaited } from './waits/openWaits.ts';

export interface RunEnd extends Awaited {
  readonly status: DriveOutcome['status'];
  readonly reason: string | null;
  /** The error that ended the run in this call. */
  readonly error?: RunError;
}

/** Result of `run`: the status, open gates and the graph's output. */
export type RunResult<Output> = RunEnd & {
  readonly gates: readonly Gate[];
  /**
   * Values of the graph's output schema, as `invoke` returns them; `app.values()` returns the whole state. `null`
   * before the first checkpoint. For an earlier turn: the values at its end, or `null` after pruning.
   */
  readonly values: Output | null;
  /** Key of the turn that this result belongs to; absent if the run has no turn key. */
  readonly turn?: string;
};
