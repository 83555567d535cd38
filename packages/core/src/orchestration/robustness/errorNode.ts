import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import type { CapturedError, GraphState } from '../types.ts';
import { checkpointTime } from './checkpointTime.ts';
import { countConsecutiveErrors } from './countConsecutiveErrors.ts';
import { errorRecordAt } from './errorRecord.ts';

/** Records kept in the state; the journal has them all. */
const MAX_HISTORY = 20;

/**
 * The `error` node: appends a masked record, marks the active task failed and sets the status [8_RISKS-REQ-001].
 *
 * Takes the error that the graph's handler captured and clears it; without one it names the node that was to
 * recover. With LangGraph's `config` the time is that of the checkpoint the node started from, so running it
 * again gives the same record.
 */
export function errorNode(
  state: GraphState,
  config: Pick<LangGraphRunnableConfig, 'executionInfo'> = {},
): Partial<GraphState> {
  const { activeTaskId, errorHistory, tasks } = state;
  const { error, sourceNode } = capturedIn(state);
  const record = errorRecordAt({
    error,
    sourceNode,
    taskId: activeTaskId,
    consecutiveCount: countConsecutiveErrors(errorHistory, error.message, activeTaskId) + 1,
    capturedAtMs: checkpointTime(config.executionInfo?.checkpointId ?? '') ?? Date.now(),
  });
  return {
    errorHistory: [...errorHistory, record].slice(-MAX_HISTORY),
    tasks: tasks.map((task) => (task.taskId === activeTaskId ? { ...task, status: 'failed' } : task)),
    status: 'error',
    capturedError: null,
  };
}

function capturedIn({ capturedError, pendingRecoveryNode }: GraphState): {
  error: Error;
  sourceNode: string;
} {
  if (capturedError != null) return { error: restore(capturedError), sourceNode: capturedError.node };
  const sourceNode = pendingRecoveryNode ?? 'unknown';
  const error = new Error(`Unhandled error in node "${sourceNode}".`);
  // This stack is ours, not that of what went wrong.
  error.stack = '';
  return { error, sourceNode };
}

function restore({ name, message, stackTrace }: CapturedError): Error {
  const error = new Error(message);
  error.name = name;
  error.stack = stackTrace;
  return error;
}
