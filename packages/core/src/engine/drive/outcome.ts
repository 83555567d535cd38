import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { ThreadStatus } from '../../state/ThreadStore.ts';
import type { Awaited } from '../waits/openWaits.ts';
import type { RunError } from './runError.ts';

/** Where a drive left a run. `suspended` and `drained` runs go on with the next drive; the others have ended. */
export type DriveOutcome =
  | ({ readonly status: 'suspended'; readonly gates: readonly HitlSession[] } & Awaited)
  | { readonly status: 'drained'; readonly reason: string }
  | { readonly status: EndStatus; readonly reason: string | null }
  | { readonly status: 'failed'; readonly reason: string; readonly error: RunError };

export type EndStatus = 'completed' | 'failed' | 'cancelled' | 'dead_letter';

export interface EndOfRun {
  readonly status: 'completed' | 'failed';
  readonly reason: string | null;
}

/** A failed run may be driven again: what failed is tried anew. */
export function isOver(status: ThreadStatus): status is 'completed' | 'cancelled' | 'dead_letter' {
  return status === 'completed' || status === 'cancelled' || status === 'dead_letter';
}
