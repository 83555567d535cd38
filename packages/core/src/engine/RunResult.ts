import type { DriveOutcome } from './drive/outcome.ts';
import type { RunError } from './drive/runError.ts';
import type { Gate } from './Gate.ts';
import type { Awaited } from './waits/openWaits.ts';

export interface RunEnd extends Awaited {
  readonly status: DriveOutcome['status'];
  readonly reason: string | null;
  /** What a node threw, where this drive ended with it. */
  readonly error?: RunError;
}

/** Where a run stands after `run`: its outcome, the gates it waits at and the values its graph has now. */
export type RunResult<State> = RunEnd & {
  readonly gates: readonly Gate[];
  /** `null` before the first checkpoint. Of an earlier turn, those it has left; `null` once they were pruned away. */
  readonly values: State | null;
  /** Key of the turn that this is told of; absent where it has none. */
  readonly turn?: string;
};
