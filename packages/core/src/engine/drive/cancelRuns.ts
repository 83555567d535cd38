import { isDevsError } from '../../errors/DevsError.ts';
import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
import { runEnded } from '../stream/RunStreams.ts';
import type { Engine, RecordingEngine } from './Engine.ts';
import { holdRun } from './lease.ts';
import { isOver, saveRunStatus } from './outcome.ts';

/** Why a run ended that was asked to. */
export const CANCELLED_BY_REQUEST = 'cancelled by request';

/**
 * Ends a run, and those below it: at once where nobody drives it, else by a request to its driver.
 *
 * @param requestId - The same one is the same request, done once.
 */
export async function cancelRun(
  threadId: string,
  requestId: string,
  engine: RecordingEngine & Pick<Engine, 'leave'>,
): Promise<void> {
  const { store } = engine;
  const isNew = store.runs.together(() => {
    const { wakeSeq } = store.threads.require(threadId);
    if (store.runs.signal(threadId, { id: requestId, kind: 'cancel', payload: null }) <= wakeSeq)
      return false;
    cancelBelow(threadId, engine);
    return true;
  });
  if (!isNew || store.threads.driverOf(threadId) !== null) return afterBarrier(store.outlet, undefined);
  try {
    await holdRun(threadId, async (lease) => endCancelled(lease, engine), engine);
  } catch (error) {
    // Somebody took it up in between, and finds the request.
    if (!isDevsError(error, 'THREAD_BUSY') && !isDevsError(error, 'LEASE_LOST')) throw error;
  }
}

/** Ends a run that nobody drives, and those below it, in one transaction. */
export function endCancelled(lease: Lease, engine: RecordingEngine): void {
  engine.store.runs.together(() => {
    endAlone(lease, engine);
    cancelBelow(lease.threadId, engine);
  });
}

/**
 * Cancels every run below a run that has not ended: at once where nobody drives it, else by a request to its driver. In the
 * caller's transaction.
 */
export function cancelBelow(threadId: string, engine: RecordingEngine): void {
  const { runs, children } = engine.store;
  for (const id of children.openBelow(threadId)) {
    runs.signal(id, { id: `cancel of ${id} with ${threadId}`, kind: 'cancel', payload: null });
    const claim = runs.claim(id);
    if (claim.kind === 'busy') continue;
    endAlone(claim.lease, engine);
    runs.release(claim.lease);
  }
}

/** Ends a run that nobody drives, in the caller's transaction: its open questions are withdrawn and the request is done. */
function endAlone(lease: Lease, engine: RecordingEngine): void {
  const { runs, threads } = engine.store;
  const { threadId } = lease;
  const { status, wakeSeq } = threads.require(threadId);
  const isAsked = threads.signals.pending(threadId, ['cancel']).length > 0;
  runs.consume(lease, 'cancel');
  // Without a request, it was done since, or the turn that it was about has been followed by another.
  if (isOver(status) || !isAsked) return;
  const settlement = {
    status: 'cancelled',
    reason: CANCELLED_BY_REQUEST,
    seenWakeSeq: wakeSeq,
    facts: [{ name: 'RUN_FINISHED', payload: { outcome: 'cancelled' }, scope: { threadId } }],
    withdrawsQuestions: true,
  } as const;
  saveRunStatus(lease, settlement, [runEnded('cancelled', CANCELLED_BY_REQUEST)], engine);
}
