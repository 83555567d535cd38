import { afterArrival } from '../../state/Outlet.ts';
import type { Lease } from '../../state/threadRecords.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { LeaveRun } from './DriverDeps.ts';
import { holdLease, releasing } from './LeaseKeeper.ts';
import { leaveQuietly } from './leaveQuietly.ts';

/** Holds a run, so that nobody drives it meanwhile; see `DurableApp.hold`. */
export async function holdRun<T>(
  threadId: string,
  work: (lease: Lease) => Promise<T>,
  { store, leave }: { readonly store: EngineStore; readonly leave?: LeaveRun | undefined },
): Promise<T> {
  store.threads.require(threadId);
  const held = await holdLease(store.runs, threadId);
  const done = releasing(held, async () => {
    try {
      return await work(held.lease);
    } finally {
      await leaveQuietly(held.lease, { store, leave });
    }
  });
  return afterArrival(store.outlet, done);
}
