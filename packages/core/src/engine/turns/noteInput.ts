import type { ThreadInputStore } from '../../state/ThreadInputStore.ts';
import type { StoredCheckpoint } from '../saver/SqliteSaver.ts';

/**
 * A run's input is taken up with the checkpoint that holds it: in its transaction, so that no driver gives it twice and none
 * leaves it out. Of the graphs inside nodes and of frames, which have inputs of their own, nothing is noted.
 */
export function noteInput(
  { runId, stored }: { readonly runId: string; readonly stored: StoredCheckpoint },
  inputs: ThreadInputStore,
): void {
  const { threadId, checkpointNs, source } = stored;
  if (source === 'input' && checkpointNs === '' && threadId === runId) inputs.markTaken(threadId);
}
