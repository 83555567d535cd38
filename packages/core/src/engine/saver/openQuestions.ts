import type { Interrupt } from '@langchain/langgraph';
import type { CheckpointPendingWrite, CheckpointTuple } from '@langchain/langgraph-checkpoint';

// LangGraph's reserved channels for what happened to a task, as opposed to what it produced.
const INTERRUPT = '__interrupt__';
const RESUME = '__resume__';
const CONTROL_CHANNELS: ReadonlySet<string> = new Set([
  INTERRUPT,
  '__error__',
  '__error_source_node__',
  RESUME,
]);

/** Whether a pending write is something its task produced, and not what happened to it. */
export function isOutput(channel: string): boolean {
  return !CONTROL_CHANNELS.has(channel);
}

/** Whether a pending write is of a task's last run. An answer is given before it, and an emptied interrupt was taken back. */
export function hasHappened([, channel, value]: CheckpointPendingWrite): boolean {
  const isTakenBack = channel === INTERRUPT && Array.isArray(value) && value.length === 0;
  return channel !== RESUME && !isTakenBack;
}

export interface OpenQuestion {
  readonly interruptId: string;
  readonly value: unknown;
  /** JSON Schema of the answer, where `interrupt()` was given one. */
  readonly responseSchema?: unknown;
}

/** With what its task was told before. */
export interface PendingQuestion extends OpenQuestion {
  readonly checkpointId: string;
  /** Answers of this task that LangGraph has stored; its next execution takes them in this order. */
  readonly received: readonly unknown[];
}

/**
 * The interrupts of tasks that have produced no output, with the task's id.
 *
 * Read from the pending writes, because `getState().tasks` lists an answered interrupt until the next
 * checkpoint; a driver that trusts it answers twice.
 */
function openInterrupts({
  pendingWrites = [],
}: CheckpointTuple): readonly (readonly [taskId: string, Interrupt])[] {
  const finished = new Set(
    pendingWrites.filter(([, channel]) => isOutput(channel)).map(([taskId]) => taskId),
  );
  return pendingWrites
    .filter(([taskId, channel]) => channel === INTERRUPT && !finished.has(taskId))
    .flatMap(([taskId, , interrupts]) =>
      Array.isArray(interrupts) ? interrupts.map((each: Interrupt) => [taskId, each] as const) : [],
    );
}

/** Whether a task waits at a question that has no id: LangGraph has no way to give it an answer. */
export function hasUnanswerable(tuple: CheckpointTuple): boolean {
  return openInterrupts(tuple).some(([, { id }]) => id === undefined);
}

/** The questions a checkpoint still waits for: its open interrupts that an answer can name. */
export function openQuestions(tuple: CheckpointTuple): readonly PendingQuestion[] {
  const { pendingWrites = [], checkpoint } = tuple;
  const receivedBy = (task: string): readonly unknown[] =>
    pendingWrites
      .filter(([taskId, channel]) => taskId === task && channel === RESUME)
      .flatMap(([, , v]) => v);
  return openInterrupts(tuple).flatMap(([taskId, { id, value, response_schema: responseSchema }]) => {
    if (id === undefined) return [];
    const received = receivedBy(taskId);
    return [{ interruptId: id, value, responseSchema, checkpointId: checkpoint.id, received }];
  });
}
