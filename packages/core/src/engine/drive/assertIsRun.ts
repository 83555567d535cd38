import { DevsError } from '../../errors/DevsError.ts';
import type { EngineStore } from '../EngineStore.ts';

/**
 * A thread with checkpoints that is no run was written by hand: no gate of it was asked, and nobody knows what its state
 * went through.
 *
 * @throws DevsError `THREAD_NOT_OURS`
 */
export function assertIsRun(threadId: string, { threads, checkpoints }: EngineStore): void {
  if (threads.get(threadId) !== null) return;
  if (checkpoints.loadLatest({ threadId, checkpointNs: '' }) === null) return;
  throw new DevsError(`Thread "${threadId}" has checkpoints that were not made by a run.`, {
    code: 'THREAD_NOT_OURS',
    remedy: 'Use another id for the run, or continue this thread with plain LangGraph.',
    context: { threadId },
  });
}
