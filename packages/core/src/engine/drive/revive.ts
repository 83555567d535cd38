import type { Lease } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import { principalText } from '../gates/decidable.ts';
import type { Principal } from '../gates/HumanInTheLoopManager.ts';

export interface ReviveDeps {
  readonly store: EngineStore;
}

/** Brings a dead letter back, and records who did, in one transaction. False for a run that is none. */
export function revive(lease: Lease, by: Principal, { store }: ReviveDeps): boolean {
  const principal = principalText(by);
  return store.commit((emit) => {
    const isRevived = store.threads.revive(lease, `revived by ${principal}`);
    if (isRevived) emit('RUN_REVIVED', { principal }, { threadId: lease.threadId });
    return isRevived;
  });
}
