import type { HitlSession } from '../../state/HitlSessionStore.ts';

/** Where a drive left a run. `suspended` and `drained` runs go on with the next drive; the others have ended. */
export type DriveOutcome =
  | { readonly status: 'suspended'; readonly gates: readonly HitlSession[] }
  | { readonly status: 'drained'; readonly reason: string }
  | { readonly status: EndStatus; readonly reason: string | null };

export type EndStatus = 'completed' | 'failed' | 'cancelled' | 'dead_letter';

export interface EndOfRun {
  readonly status: 'completed' | 'failed';
  readonly reason: string | null;
}
