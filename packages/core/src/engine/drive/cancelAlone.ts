import type { EventSink } from '../../events/EventBus.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { RunStreams } from '../stream/RunStreams.ts';
import { runEnded } from '../stream/toldOfRun.ts';
import { isOver } from './outcome.ts';

/** Why a run ended that was asked to. */
export const CANCELLED_BY_REQUEST = 'cancelled by request';

/** The transaction that runs are cancelled in. */
export interface Cancelling {
  readonly store: EngineStore;
  readonly emit: EventSink['emit'];
  readonly streams?: RunStreams | undefined;
}

/** Ends a run that nobody drives, in the caller's transaction: its open questions are withdrawn and the request is done. */
export function cancelAlone(lease: Lease, { store, emit, streams }: Cancelling): void {
  const { threads, sessions } = store;
  const { threadId } = lease;
  store.fenceOf(lease).assertInTx();
  const { status, wakeSeq } = threads.require(threadId);
  const requests = threads.signals.pending(threadId, ['cancel']);
  for (const { id } of requests) threads.signals.consume(id);
  // Without a request, it was done since, or the turn that it was about has been followed by another.
  if (isOver(status) || requests.length === 0) return;
  sessions.supersedeOpen(threadId, 'cancelled');
  emit('RUN_FINISHED', { outcome: 'cancelled' }, { threadId });
  const settlement = { reason: CANCELLED_BY_REQUEST, seenWakeSeq: wakeSeq };
  const settle = (): boolean => threads.settle(lease, 'cancelled', settlement) === 'settled';
  if (streams === undefined) settle();
  else streams.settling(threadId, settle, [runEnded('cancelled', CANCELLED_BY_REQUEST)]);
}
