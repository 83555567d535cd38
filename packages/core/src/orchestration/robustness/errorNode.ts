import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { advance } from '../advance.ts';
import type { CapturedError, GraphState } from '../types.ts';
import { countConsecutiveErrors } from './countConsecutiveErrors.ts';
import { errorRecordAt } from './errorRecord.ts';

/** Records kept in the state; the journal has them all. */
const MAX_HISTORY = 20;

/**
 * The `error` node: appends a masked record, marks the active task failed and sets the status [8_RISKS-REQ-001].
 *
 * Uses and clears the error that the graph's handler captured; without one, it uses and clears `pendingRecoveryNode`.
 * With LangGraph's `config`, the time is that of the node's checkpoint, so running it again creates the same record.
 */
export function errorNode(
  state: GraphState,
  config: Pick<LangGraphRunnableConfig, 'executionInfo'> = {},
): Partial<GraphState> {
  const { activeTaskId, errorHistory, tasks } = state;
  const { error, sourceNode, isSignalled } = capturedIn(state);
  const record = errorRecordAt({
    error,
    sourceNode,
    taskId: activeTaskId,
    consecutiveCount: countConsecutiveErrors(errorHistory, error.message, activeTaskId),
    capturedAtMs: checkpointTime(config.executionInfo?.checkpointId ?? '') ?? Date.now(),
  });
  return {
    errorHistory: [...errorHistory, record].slice(-MAX_HISTORY),
    tasks: tasks.map((task) => (task.taskId === activeTaskId ? { ...task, status: 'failed' } : task)),
    ...advance(state, 'error'),
    capturedError: null,
    ...(isSignalled && { pendingRecoveryNode: null }),
  };
}

function capturedIn({ capturedError, pendingRecoveryNode }: GraphState): {
  error: Error;
  sourceNode: string;
  /** Read from `pendingRecoveryNode`, which has then led here and must not again; else it is a pivot that is still to come. */
  isSignalled: boolean;
} {
  if (capturedError != null)
    return { error: restore(capturedError), sourceNode: capturedError.node, isSignalled: false };
  const sourceNode = pendingRecoveryNode ?? 'unknown';
  const error = new Error(`Unhandled error in node "${sourceNode}".`);
  // This stack is ours, not that of what went wrong.
  error.stack = '';
  return { error, sourceNode, isSignalled: true };
}

function restore({ name, message, stackTrace }: CapturedError): Error {
  const error = new Error(message);
  error.name = name;
  error.stack = stackTrace;
  return error;
}

/** Between the epoch of version 6 UUIDs (1582-10-15) and the Unix epoch. */
const GREGORIAN_OFFSET_MS = 12_219_292_800_000n;
const TICKS_PER_MS = 10_000n;
const UUID6 = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/i;

/**
 * When a checkpoint was written, in milliseconds since the Unix epoch, read from its id; `null` for an id of
 * another form.
 *
 * A node that needs a time takes it from here: it runs again after a crash, and the checkpoint it starts from
 * is then the same.
 */
function checkpointTime(checkpointId: string): number | null {
  const parts = UUID6.exec(checkpointId);
  if (parts === null) return null;
  const ticks = BigInt(`0x${parts[1]}${parts[2]}${parts[3]}`);
  return Number(ticks / TICKS_PER_MS - GREGORIAN_OFFSET_MS);
}
