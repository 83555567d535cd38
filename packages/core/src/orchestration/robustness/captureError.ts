import { Command, type NodeError } from '@langchain/langgraph';
import { maskStart } from '../../masking/maskSensitiveData.ts';
import { pickTask } from '../taskStates.ts';
import type { CapturedError, GraphState } from '../types.ts';

/** Characters; the record of an error has fewer. */
const MAX_TEXT = 64 * 1024;

/**
 * LangGraph's error handler for every node of the pipeline: keeps what was thrown, masked, and leads to `error`.
 *
 * Never rethrows: LangGraph would store the error and replay it to this handler for ever. An error that comes back
 * after a crash has lost its stack.
 */
export function captureError(state: unknown, { node, error }: NodeError) {
  const capturedError: CapturedError = {
    node,
    name: error.name,
    message: maskStart(error.message, MAX_TEXT),
    stackTrace: maskStart(error.stack ?? '', MAX_TEXT),
  };
  const episode = node === 'implement' ? episodeOf(state as GraphState) : {};
  const update: Partial<GraphState> = { ...episode, capturedError, pendingSuspension: null };
  return new Command({ goto: 'error', update });
}

/** The task `implement` had picked when it threw: its own update is lost; error and attempt belong to that task. */
function episodeOf(state: GraphState): Partial<GraphState> {
  const { activeTaskId, activeEpicId, implementationTurns, entropy, errorHistory, taskAttempts, taskPivots } =
    pickTask(state).state;
  return {
    activeTaskId,
    activeEpicId,
    implementationTurns,
    entropy,
    errorHistory,
    taskAttempts: taskAttempts + 1,
    taskPivots,
  };
}
