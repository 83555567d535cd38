import { afterBarrier } from '../../state/CommitBarrier.ts';
import type { Lease } from '../../state/threadRecords.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { ReleaseRun } from './DriverDeps.ts';
import { holdLease, releasing } from './LeaseKeeper.ts';
import { releaseIgnoringErrors } from './releaseIgnoringErrors.ts';

/** Holds a run, so that nobody drives it meanwhile; see `DurableApp.hold`. */
export async function holdRun<T>(
  threadId: string,
  work: (lease: Lease) => Promise<T>,
  { store, leave }: { readonly store: EngineStore; readonly leave?: ReleaseRun | undefined },
): Promise<T> {
  store.threads.require(threadId);
  const held = await holdLease(store.runs, threadId);
  const done = releasing(held, async () => {
    try {
      return await work(held.lease);
    } finally {
      await releaseIgnoringErrors(held.lease, { store, leave });
    }
  });
  return afterBarrier(store.outlet, done);
}
