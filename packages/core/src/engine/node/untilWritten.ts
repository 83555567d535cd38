import type { RunnableConfig } from '@langchain/core/runnables';
import { yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import type { EngineStore } from '../gates/EngineStore.ts';

/** A checkpoint that a task starts from. */
export interface CheckpointAt {
  readonly threadId: string;
  readonly checkpointNs: string;
  readonly checkpointId: string;
}

/** The engine's; a graph inside may have another one. */
interface WritingSaver {
  writing?(checkpointId: string): Promise<unknown> | null;
}

export const isInFile = (
  { checkpointId, threadId }: Pick<CheckpointAt, 'threadId' | 'checkpointId'>,
  { checkpoints }: Pick<EngineStore, 'checkpoints'>,
): boolean => checkpoints.findSeq(checkpointId, threadId) !== null;

/** Resolves once the checkpoint is in the file. LangGraph begins the tasks of an input earlier, and names them after it. */
export async function untilWritten(
  at: Pick<CheckpointAt, 'threadId' | 'checkpointId'>,
  { configurable }: RunnableConfig,
  store: Pick<EngineStore, 'checkpoints'>,
): Promise<void> {
  const saver = configurable?.['__pregel_checkpointer'] as WritingSaver | undefined;
  const { checkpointId } = at;
  if (isInFile(at, store)) return;
  if (saver?.writing?.(checkpointId) == null) await yieldToEventLoop(); // LangGraph asks for it a few ticks later
  await saver?.writing?.(checkpointId);
}
