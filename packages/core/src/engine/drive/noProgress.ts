import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import { openInterrupts } from './openQuestions.ts';

/** Whether a task waits at a question that has no id: LangGraph has no way to give it an answer. */
export function hasUnanswerable(tuple: CheckpointTuple): boolean {
  return openInterrupts(tuple).some(([, { id }]) => id === undefined);
}

export function interruptInEdge(threadId: string): DevsError {
  return new DevsError(
    `Run "${threadId}" was interrupted outside of a node, where no answer can be given to it.`,
    {
      code: 'INTERRUPT_IN_EDGE',
      remedy: 'Call interrupt() in a node, and let the edge read from the state what was answered.',
      context: { threadId },
    },
  );
}

export function noProgress(threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" was driven, and stands where it stood before.`, {
    code: 'NO_PROGRESS',
    remedy: 'See which node stops the graph without a question, an output or an error; then resume the run.',
    context: { threadId },
  });
}
