import { type Cancelling, cancelAlone } from './cancelAlone.ts';

/**
 * Cancels every run below a run that has not ended: at once where nobody drives it, else by a request to its driver. In the
 * caller's transaction.
 */
export function cancelBelow(threadId: string, cancelling: Cancelling): void {
  const { threads, children } = cancelling.store;
  for (const id of children.openBelow(threadId)) {
    threads.signal(id, { id: `cancel of ${id} with ${threadId}`, kind: 'cancel', payload: null });
    const claim = threads.claim(id);
    if (claim.kind === 'busy') continue;
    cancelAlone(claim.lease, cancelling);
    threads.release(claim.lease);
  }
}
