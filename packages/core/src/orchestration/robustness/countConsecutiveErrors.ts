import { errorFingerprint } from '../../engine/entropy/errorFingerprint.ts';
import type { ErrorRecord } from '../types.ts';
import { maskedMessageOf } from './errorRecord.ts';

/** Counts how many of the newest records, without a gap, have this message, but for what differs by accident, and task. */
export function countConsecutiveErrors(
  history: readonly ErrorRecord[],
  message: string,
  taskId: string | null,
): number {
  const wanted = errorFingerprint(maskedMessageOf(message));
  const other = history.findLastIndex(
    (record) => errorFingerprint(record.message) !== wanted || record.taskId !== taskId,
  );
  return history.length - 1 - other;
}
