// State machine robustness: errors become records, budgets and loops become pivots. The rooms are in robustness/.

export { maskSensitiveData } from '../masking/maskSensitiveData.ts';
export { captureError } from './robustness/captureError.ts';
export { classifyError } from './robustness/classifyError.ts';
export { countConsecutiveErrors } from './robustness/countConsecutiveErrors.ts';
export { detectEntropy, ENTROPY_LOOP_THRESHOLD, withOutput } from './robustness/entropy.ts';
export { errorNode } from './robustness/errorNode.ts';
export { buildErrorRecord, type ErrorOccurrence, errorRecordAt } from './robustness/errorRecord.ts';
export { pivotAgentNode } from './robustness/pivotAgentNode.ts';
export {
  CONSECUTIVE_ERROR_PIVOT_THRESHOLD,
  type ErrorRoute,
  type RecoveryRoute,
  routeAfterError,
  routeRecovery,
} from './robustness/routeAfterError.ts';
export { findStaleOrDirtyStates, type StaleTaskInfo } from './robustness/staleTasks.ts';
export { transientRetryPolicy } from './robustness/transientRetryPolicy.ts';
export {
  checkTurnBudget,
  incrementTurnBudget,
  MAX_IMPLEMENTATION_TURNS,
  resetTurnBudget,
} from './robustness/turnBudget.ts';
export type { ErrorKind, ErrorRecord } from './types.ts';
