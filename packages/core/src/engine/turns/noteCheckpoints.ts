import type { FencedLease } from '../../state/Fence.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { StoredCheckpoint } from '../saver/SqliteSaver.ts';

/**
 * What a checkpoint says of its run, in its own transaction. A committed super-step is progress: only a driver that dies before
 * one counts towards giving the run up. A root checkpoint that holds an input is where its turn is taken up, so that no driver
 * gives it twice and none leaves it out; graphs inside nodes and frames have inputs of their own.
 */
export function noteCheckpoints({ threads, inputs }: EngineStore) {
  return (lease: FencedLease, { threadId, checkpointNs, source }: StoredCheckpoint): void => {
    threads.resetRecoveries(lease);
    if (source === 'input' && checkpointNs === '' && threadId === lease.threadId) inputs.markTaken(threadId);
  };
}
