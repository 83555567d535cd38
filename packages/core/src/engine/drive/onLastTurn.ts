import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { GuardedState } from '../channels.ts';
import type { DrivenConfig } from './DriverDeps.ts';

/** What a `Command` writes without a task: LangGraph puts it into the channels before the input. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';

/** LangGraph's own steps between a checkpoint and the first nodes of the next input: the input's and START's. */
const STEPS_OF_INPUT = 2;

/**
 * Makes the latest checkpoint of a run ready for the input of its next turn: the guards begin anew with it, and no question
 * of the turn before is left in their channels.
 *
 * May be repeated: a driver that died before the input was taken up has left the same.
 */
export async function onLastTurn(
  config: DrivenConfig,
  { checkpoint, metadata }: CheckpointTuple,
  saver: BaseCheckpointSaver,
): Promise<void> {
  const anew: Required<GuardedState> = {
    pendingSuspension: null,
    progressStep: (metadata?.step ?? 0) + STEPS_OF_INPUT,
  };
  const at = { configurable: { ...config.configurable, checkpoint_ns: '', checkpoint_id: checkpoint.id } };
  await saver.putWrites(at, Object.entries(anew), NO_TASK);
}
