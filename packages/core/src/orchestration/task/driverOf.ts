import type { EngineStore } from '../../engine/EngineStore.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import type { Driver } from '../ports.ts';

/** The holder of a lease, as the folder of its run knows it. */
export function driverOf(
  { threads }: Pick<EngineStore, 'threads'>,
  { threadId, epoch }: FencedLease,
): Driver {
  return {
    epoch,
    holder: threads.holder,
    isCurrent: () => threads.get(threadId)?.leaseEpoch === epoch,
    isGone: (holder) => threads.isGone(holder),
  };
}
