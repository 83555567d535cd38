import type { CheckpointTuple, PendingWrite } from '@langchain/langgraph-checkpoint';
import type { GuardedState } from '../execution/nodeExecution.ts';
import type { DrivenConfig } from '../graph/EngineGraph.ts';
import type { Engine } from './Engine.ts';
import { answersOfLastTurn, NO_TASK, writesWithoutTask } from './openToolCalls.ts';

/** LangGraph's own steps between a checkpoint and the first nodes of the next input: the input's and START's. */
const STEPS_OF_INPUT = 2;

/**
 * Makes the latest checkpoint of a run ready for the input of its next turn. The guards and their channels begin anew. Open
 * tool calls of a cancelled turn are answered.
 *
 * May be repeated: a driver that died before the input was taken up has left the same.
 */
export async function onLastTurn(
  config: DrivenConfig,
  tuple: CheckpointTuple,
  engine: Pick<Engine, 'graph' | 'saver' | 'store'>,
): Promise<void> {
  const threadId = config.configurable.thread_id;
  const isCancelled = engine.store.inputs.endBefore(threadId)?.status === 'cancelled';
  const answers = isCancelled ? await answersOfLastTurn(threadId, engine) : [];
  const isOwn = (at: CheckpointTuple): boolean => at.checkpoint.id === tuple.checkpoint.id;
  const own = answers.filter((each) => isOwn(each.tuple)).flatMap(({ writes }) => writes);
  for (const each of answers) if (!isOwn(each.tuple)) await put(each.tuple, each.writes);
  await put(tuple, [...guardWrites(tuple), ...own]);

  async function put(on: CheckpointTuple, more: readonly PendingWrite[]): Promise<void> {
    if (more.length === 0) return;
    const { checkpoint_ns = '', checkpoint_id }: Readonly<Record<string, unknown>> =
      on.config.configurable ?? {};
    const at = { configurable: { ...config.configurable, checkpoint_ns, checkpoint_id } };
    await engine.saver.putWrites(at, writesWithoutTask(on, more), NO_TASK);
  }
}

function guardWrites({ metadata, pendingWrites = [] }: CheckpointTuple): readonly PendingWrite[] {
  const anew: Required<GuardedState> = {
    pendingSuspension: null,
    progressStep: (metadata?.step ?? 0) + STEPS_OF_INPUT,
  };
  const isThere = (name: string): boolean =>
    pendingWrites.some(([taskId, channel]) => taskId === NO_TASK && channel === name);
  return Object.entries(anew).filter(([name]) => !isThere(name));
}
