import { isDevsError } from '../../errors/DevsError.ts';
import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
import type { EngineStore } from '../EngineStore.ts';
import { runEnded } from '../stream/RunStreams.ts';
import type { ReleaseRun } from './DriverDeps.ts';
import { holdRun } from './lease.ts';
import { isOver, type StatusDeps, saveRunStatus } from './outcome.ts';

/** Why a run ended that was asked to. */
export const CANCELLED_BY_REQUEST = 'cancelled by request';

export interface Cancelling extends StatusDeps {
  readonly store: Pick<EngineStore, 'runs' | 'threads' | 'children'>;
}

/**
 * Ends a run, and those below it: at once where nobody drives it, else by a request to its driver.
 *
 * @param requestId - The same one is the same request, done once.
 */
export async function cancelRun(
  threadId: string,
  requestId: string,
  cancelling: StatusDeps & { readonly store: EngineStore; readonly leave?: ReleaseRun | undefined },
): Promise<void> {
  const { store } = cancelling;
  const isNew = store.runs.together(() => {
    const { wakeSeq } = store.threads.require(threadId);
    if (store.runs.signal(threadId, { id: requestId, kind: 'cancel', payload: null }) <= wakeSeq)
      return false;
    cancelBelow(threadId, cancelling);
    return true;
  });
  if (!isNew || store.threads.driverOf(threadId) !== null) return afterBarrier(store.outlet, undefined);
  try {
    await holdRun(threadId, async (lease) => endCancelled(lease, cancelling), cancelling);
  } catch (error) {
    // Somebody took it up in between, and finds the request.
    if (!isDevsError(error, 'THREAD_BUSY') && !isDevsError(error, 'LEASE_LOST')) throw error;
  }
}

/** Ends a run that nobody drives, and those below it, in one transaction. */
export function endCancelled(lease: Lease, cancelling: Cancelling): void {
  cancelling.store.runs.together(() => {
    endAlone(lease, cancelling);
    cancelBelow(lease.threadId, cancelling);
  });
}

/**
 * Cancels every run below a run that has not ended: at once where nobody drives it, else by a request to its driver. In the
 * caller's transaction.
 */
export function cancelBelow(threadId: string, cancelling: Cancelling): void {
  const { runs, children } = cancelling.store;
  for (const id of children.openBelow(threadId)) {
    runs.signal(id, { id: `cancel of ${id} with ${threadId}`, kind: 'cancel', payload: null });
    const claim = runs.claim(id);
    if (claim.kind === 'busy') continue;
    endAlone(claim.lease, cancelling);
    runs.release(claim.lease);
  }
}

/** Ends a run that nobody drives, in the caller's transaction: its open questions are withdrawn and the request is done. */
function endAlone(lease: Lease, cancelling: Cancelling): void {
  const { runs, threads } = cancelling.store;
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
  saveRunStatus(lease, settlement, [runEnded('cancelled', CANCELLED_BY_REQUEST)], cancelling);
}
