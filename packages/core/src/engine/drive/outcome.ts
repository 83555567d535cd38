import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { EndedStatus, ThreadStatus } from '../../state/threadRecords.ts';
import type { RunOutcome } from '../RunResult.ts';

/** What came of one drive, with the sessions of its open gates. */
export type SessionOutcome = RunOutcome<HitlSession>;

export const stopped = (status: 'paused' | 'created' | 'running', reason: string): SessionOutcome => ({
  ...{ status, reason },
  gates: [],
});

export const ended = (status: EndedStatus, reason: string | null): SessionOutcome => ({
  ...{ status, reason },
  gates: [],
});

export interface EndOfRun {
  readonly status: 'completed' | 'failed';
  readonly reason: string | null;
}

/** A failed run may be driven again: what failed is tried anew. */
export function isOver(status: ThreadStatus): status is 'completed' | 'cancelled' | 'dead_letter' {
  return status === 'completed' || status === 'cancelled' || status === 'dead_letter';
}
