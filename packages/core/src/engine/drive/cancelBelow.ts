import type { EventSink } from '../../events/EventBus.ts';
import type { EngineStore } from '../EngineStore.ts';
import { cancelAlone } from './cancelAlone.ts';

/**
 * Cancels every run below a run that has not ended: at once where nobody drives it, else by a request to its driver. In the
 * caller's transaction.
 */
export function cancelBelow(threadId: string, store: EngineStore, emit: EventSink['emit']): void {
  const { threads, children } = store;
  for (const id of children.openBelow(threadId)) {
    threads.signal(id, { id: `cancel of ${id} with ${threadId}`, kind: 'cancel', payload: null });
    const claim = threads.claim(id);
    if (claim.kind === 'busy') continue;
    cancelAlone(claim.lease, store, emit);
    threads.release(claim.lease);
  }
}
