import type { RunSettlement, RunStore } from '../../state/RunStore.ts';
import type { Lease } from '../../state/threadRecords.ts';
import type { RunStreams } from '../stream/RunStreams.ts';
import type { ToldOfRun } from '../stream/toldOfRun.ts';

export interface SettleDeps {
  readonly store: { readonly runs: RunStore };
  readonly streams?: RunStreams | undefined;
}

/** Records where a run stands, and tells the readers of its stream; false where it has to be looked at again. */
export function settleRun(
  lease: Lease,
  { beside, ...settlement }: RunSettlement,
  told: readonly ToldOfRun[],
  { store, streams }: SettleDeps,
): boolean {
  const { threadId } = lease;
  const settled = store.runs.settle(lease, {
    ...settlement,
    beside: () => {
      streams?.record(threadId, told);
      beside?.();
    },
  });
  streams?.wake(threadId);
  return settled === 'settled';
}
