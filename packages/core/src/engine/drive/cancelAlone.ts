import type { EventSink } from '../../events/EventBus.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import { isOver } from './outcome.ts';

/** Why a run ended that was asked to. */
export const CANCELLED_BY_REQUEST = 'cancelled by request';

/** Ends a run that nobody drives, in the caller's transaction: its open questions are withdrawn and the request is done. */
export function cancelAlone(lease: Lease, store: EngineStore, emit: EventSink['emit']): void {
  const { threads, sessions } = store;
  const { threadId } = lease;
  store.fenceOf(lease).assertInTx();
  const { status, wakeSeq } = threads.require(threadId);
  for (const { id, kind } of threads.pendingSignals(threadId)) if (kind === 'cancel') threads.consume(id);
  if (isOver(status)) return;
  sessions.supersedeOpen(threadId, 'cancelled');
  emit('RUN_FINISHED', { outcome: 'cancelled' }, { threadId });
  threads.settle(lease, 'cancelled', { reason: CANCELLED_BY_REQUEST, seenWakeSeq: wakeSeq });
}
