import type { RunStore, StatusUpdate } from '../../state/RunStore.ts';
import type { Lease } from '../../state/threadRecords.ts';
import type { RunStreams } from '../stream/RunStreams.ts';
import type { RunStreamEvent } from '../stream/runStreamEvent.ts';

export interface StatusDeps {
  readonly store: { readonly runs: RunStore };
  readonly streams?: RunStreams | undefined;
}

/** Records where a run stands, and tells the readers of its stream; false where it has to be looked at again. */
export function saveRunStatus(
  lease: Lease,
  { inSameTransaction: beside, ...settlement }: StatusUpdate,
  told: readonly RunStreamEvent[],
  { store, streams }: StatusDeps,
): boolean {
  const { threadId } = lease;
  const settled = store.runs.settle(lease, {
    ...settlement,
    inSameTransaction: () => {
      streams?.record(threadId, told);
      beside?.();
    },
  });
  streams?.wake(threadId);
  return settled === 'settled';
}
