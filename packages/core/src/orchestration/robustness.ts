// State machine robustness: errors become records, budgets and loops become pivots. The rooms are in robustness/.

import { advance } from './advance.ts';
import { resetTurnBudget } from './robustness/turnBudget.ts';
import type { GraphState, TaskStatus } from './types.ts';

export { maskSensitiveData } from '../masking/maskSensitiveData.ts';
export { captureError } from './robustness/captureError.ts';
export { classifyError } from './robustness/classifyError.ts';
export { countConsecutiveErrors } from './robustness/countConsecutiveErrors.ts';
export { detectEntropy, ENTROPY_LOOP_THRESHOLD, withOutput } from './robustness/entropy.ts';
export { errorNode } from './robustness/errorNode.ts';
export { buildErrorRecord, type ErrorOccurrence, errorRecordAt } from './robustness/errorRecord.ts';
export {
  CONSECUTIVE_ERROR_PIVOT_THRESHOLD,
  type ErrorRoute,
  type RecoveryRoute,
  routeAfterError,
  routeRecovery,
} from './robustness/routeAfterError.ts';
export { transientRetryPolicy } from './robustness/transientRetryPolicy.ts';
export {
  checkTurnBudget,
  incrementTurnBudget,
  MAX_IMPLEMENTATION_TURNS,
  resetTurnBudget,
} from './robustness/turnBudget.ts';
export type { ErrorKind, ErrorRecord } from './types.ts';

/** The `pivot_agent` node without an agent: requests another strategy and ends there. The pivot is no longer pending. */
export function pivotAgentNode(state: GraphState): Partial<GraphState> {
  return { ...advance(state, 'strategy_pivot'), ...resetTurnBudget(), pendingRecoveryNode: null };
}

/** A task that was interrupted in the middle of its work. */
export interface StaleTaskInfo {
  readonly taskId: string;
  readonly name: string;
  readonly status: TaskStatus;
  readonly epicId: string;
}

/** Returns the tasks that a run left `in_progress`. The caller decides whether to resume or rewind them. */
export function findStaleOrDirtyStates({ tasks }: GraphState): StaleTaskInfo[] {
  return tasks
    .filter(({ status }) => status === 'in_progress')
    .map(({ taskId, name, status, epicId }) => ({ taskId, name, status, epicId }));
}
