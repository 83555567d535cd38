import type { Lease } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { RunStreams } from '../stream/RunStreams.ts';
import { cancelAlone } from './cancelAlone.ts';
import { cancelBelow } from './cancelBelow.ts';

export interface CancelDeps {
  readonly store: EngineStore;
  readonly streams?: RunStreams;
}

/** Ends a run that nobody drives, and those below it, in one transaction. */
export function endCancelled(lease: Lease, { store, streams }: CancelDeps): void {
  store.commit((emit) => {
    cancelAlone(lease, { store, emit, streams });
    cancelBelow(lease.threadId, { store, emit, streams });
  });
}
