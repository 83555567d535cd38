// State machine robustness: budgets and loops become pivots. Errors become records in robustness/.

import { advance } from './taskStates.ts';
import type { EntropyRecord, ErrorKind, ErrorRecord, GraphState, TaskStatus } from './types.ts';

export { maskSensitiveData } from '../masking/maskSensitiveData.ts';
export { classifyError, transientRetryPolicy } from './robustness/classifyError.ts';
export {
  buildErrorRecord,
  captureError,
  countConsecutiveErrors,
  type ErrorOccurrence,
  errorNode,
  errorRecordAt,
} from './robustness/errorNode.ts';

export type { ErrorKind, ErrorRecord };

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

/** Turns of one task before its strategy is changed. Source: 1_PRD-REQ-REL-002. */
export const MAX_IMPLEMENTATION_TURNS = 10;

/** Returns the update that requests a pivot after the last turn; `null` while turns are left. */
export function checkTurnBudget(state: GraphState): Partial<GraphState> | null {
  return state.implementationTurns < MAX_IMPLEMENTATION_TURNS ? null : towardsPivot(state);
}

export function incrementTurnBudget({ implementationTurns }: GraphState): Partial<GraphState> {
  return { implementationTurns: implementationTurns + 1 };
}

export function resetTurnBudget(): Partial<GraphState> {
  return { implementationTurns: 0 };
}

/** Identical outputs of one task that count as a loop. */
export const ENTROPY_LOOP_THRESHOLD = 3;

/** Outputs kept in the state. */
const OUTPUTS_KEPT = 20;

/** The outputs of an episode with one more, oldest first: each knows how often it was seen until then. */
export function withOutput(
  { entropy }: Pick<GraphState, 'entropy'>,
  taskId: string,
  output: Pick<EntropyRecord, 'outputHash' | 'seenAt'>,
): readonly EntropyRecord[] {
  const last = entropy.findLast(
    (record) => record.taskId === taskId && record.outputHash === output.outputHash,
  );
  return [...entropy, { ...output, taskId, loopCount: (last?.loopCount ?? 0) + 1 }].slice(-OUTPUTS_KEPT);
}

/** Returns true if the active task has produced the same output {@link ENTROPY_LOOP_THRESHOLD} times. */
export function detectEntropy({ activeTaskId, entropy }: GraphState): boolean {
  if (activeTaskId === null) return false;
  return entropy.some(
    ({ taskId, loopCount }) => taskId === activeTaskId && loopCount >= ENTROPY_LOOP_THRESHOLD,
  );
}

/** Equal errors in a row before a new strategy is requested. Source: 9_ROADMAP-REQ-012. */
export const CONSECUTIVE_ERROR_PIVOT_THRESHOLD = 3;

export type ErrorRoute = 'pivot_agent' | 'implement';
export type RecoveryRoute = ErrorRoute | 'research' | 'design' | 'distill';

/** Returns a pivot after {@link CONSECUTIVE_ERROR_PIVOT_THRESHOLD} equal errors in a row, else another attempt. */
export function routeAfterError({ errorHistory }: GraphState): ErrorRoute {
  const count = errorHistory.at(-1)?.consecutiveCount ?? 0;
  return count >= CONSECUTIVE_ERROR_PIVOT_THRESHOLD ? 'pivot_agent' : 'implement';
}

/** {@link routeAfterError}, where another try of a stage before the tasks leads back to that stage. */
export function routeRecovery(state: GraphState): RecoveryRoute {
  const route = routeAfterError(state);
  const source = state.errorHistory.at(-1)?.sourceNode;
  const isStage = source === 'research' || source === 'design' || source === 'distill';
  return route === 'implement' && isStage ? source : route;
}

/** The update that asks for a pivot. */
export function towardsPivot(state: GraphState): Partial<GraphState> {
  return { ...advance(state, 'strategy_pivot'), pendingRecoveryNode: 'pivot_agent' };
}
