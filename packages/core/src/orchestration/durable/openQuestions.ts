import type { Interrupt } from '@langchain/langgraph';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';

// LangGraph's reserved channels for what happened to a task, as opposed to what it produced.
const INTERRUPT = '__interrupt__';
const CONTROL_CHANNELS: ReadonlySet<string> = new Set([
  INTERRUPT,
  '__error__',
  '__error_source_node__',
  '__resume__',
]);

export interface OpenQuestion {
  readonly interruptId: string;
  readonly value: unknown;
}

/**
 * The questions a checkpoint still waits for: interrupts of tasks that have produced no output.
 *
 * Read from the pending writes, because `getState().tasks` lists an answered interrupt until the next
 * checkpoint; a driver that trusts it answers twice.
 */
export function openQuestions({ pendingWrites = [] }: CheckpointTuple): readonly OpenQuestion[] {
  const finished = new Set(
    pendingWrites.filter(([, channel]) => !CONTROL_CHANNELS.has(channel)).map(([taskId]) => taskId),
  );
  return pendingWrites
    .filter(([taskId, channel]) => channel === INTERRUPT && !finished.has(taskId))
    .flatMap(([, , value]) => value as Interrupt[])
    .flatMap(({ id, value }) => (id === undefined ? [] : [{ interruptId: id, value }]));
}
