import type { EventBus } from '../../events/EventBus.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { RunStreams } from '../stream/RunStreams.ts';
import { runEnded } from '../stream/toldOfRun.ts';
import { isOver } from './outcome.ts';

export interface CancelDeps {
  readonly store: EngineStore;
  readonly events: EventBus;
  readonly streams?: RunStreams;
}

/** Why a run ended that was asked to. */
export const CANCELLED_BY_REQUEST = 'cancelled by request';

/** Ends a run that nobody drives, in one transaction: its open questions are withdrawn and the request is done. */
export function endCancelled(lease: Lease, { store, events, streams }: CancelDeps): void {
  const { threads, sessions } = store;
  const { threadId } = lease;
  store.transact(events, (emit) => {
    store.fenceOf(lease).assertInTx();
    const { status, wakeSeq } = threads.require(threadId);
    const requests = threads.pendingSignals(threadId).filter(({ kind }) => kind === 'cancel');
    for (const { id } of requests) threads.consume(id);
    // Without a request, it was done since, or the turn that it was about has been followed by another.
    if (isOver(status) || requests.length === 0) return;
    sessions.supersedeOpen(threadId, 'cancelled');
    emit('RUN_FINISHED', { outcome: 'cancelled' }, { threadId });
    const settle = (): boolean =>
      threads.settle(lease, 'cancelled', { reason: CANCELLED_BY_REQUEST, seenWakeSeq: wakeSeq }) ===
      'settled';
    const told = [runEnded('cancelled', CANCELLED_BY_REQUEST)];
    if (streams === undefined) settle();
    else streams.settling(threadId, settle, told);
  });
}
