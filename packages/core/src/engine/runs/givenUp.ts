import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { hasEnded } from '../../state/threads/threadRecords.ts';

/**
 * Aligns a file without a driver with its storage: marks the run as given up, or revives it. Leaves a file that agrees already, and a
 * run that has ended otherwise.
 *
 * @param why - `null` for a run that is not given up.
 */
export function markGivenUp(db: Database, threadId: string, why: string | null, now: () => number): void {
  const threads = new ThreadStore(db, { now, newId: randomUUID });
  const status = threads.get(threadId)?.status ?? 'completed';
  if (why === null ? status !== 'dead_letter' : hasEnded(status)) return;
  threads.evict(threadId);
  const claim = threads.claim(threadId);
  if (claim.kind === 'busy') return;
  const { lease } = claim;
  if (why === null) {
    threads.revive(lease, 'redriven');
    threads.release(lease);
  } else {
    const { wakeSeq: seenWakeSeq } = threads.require(threadId);
    threads.settle(lease, 'dead_letter', { reason: why, seenWakeSeq });
  }
}
