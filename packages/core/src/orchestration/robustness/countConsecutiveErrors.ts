import { errorFingerprint } from '../../engine/entropy/errorFingerprint.ts';
import type { ErrorRecord } from '../types.ts';
import { maskedMessageOf } from './errorRecord.ts';

/**
 * The `consecutiveCount` of an error that is about to be recorded: it, and how many of the newest records, without a gap,
 * have its task and its message, but for what differs by accident. 1 for an empty history.
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
