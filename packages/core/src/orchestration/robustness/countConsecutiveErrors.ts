import type { ErrorRecord } from '../types.ts';
import { maskedMessageOf } from './errorRecord.ts';

/** Counts how many of the newest records, without a gap, have this message (masked or not) and task. */
export function countConsecutiveErrors(
  history: readonly ErrorRecord[],
  message: string,
  taskId: string | null,
): number {
  const masked = maskedMessageOf(message);
  const other = history.findLastIndex((record) => record.message !== masked || record.taskId !== taskId);
  return history.length - 1 - other;
}
