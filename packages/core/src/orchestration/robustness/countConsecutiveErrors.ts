import { errorFingerprint } from '../../engine/entropy/errorFingerprint.ts';
import type { ErrorRecord } from '../types.ts';
import { maskedMessageOf } from './errorRecord.ts';

/**
 * Returns the `consecutiveCount` of a new error: it, and the newest records in a row with its task and message,
 * ignoring accidental differences. 1 for an empty history.
 */
export function countConsecutiveErrors(
  history: readonly ErrorRecord[],
  message: string,
  taskId: string | null,
): number {
  const wanted = errorFingerprint(maskedMessageOf(message));
  const other = history.findLastIndex(
    (record) => errorFingerprint(record.message) !== wanted || record.taskId !== taskId,
  );
  return history.length - other;
}
