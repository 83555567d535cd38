import { DevsError } from '@devs/core';

/** What a run's file may have, bytes, where nothing is said: who takes the run up reads it as a whole. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** The most that can be said: a change may be all of the file, and PostgreSQL takes 1 GB in one value. */
export const MOST_FILE_BYTES = 1_000_000_000;

/** @throws RangeError for what no file can have. */
export function requireFileLimit(bytes: number): void {
  if (Number.isSafeInteger(bytes) && bytes > 0 && bytes <= MOST_FILE_BYTES) return;
  throw new RangeError(
    `maxFileBytes: expected a whole number from 1 to ${MOST_FILE_BYTES}, got ${String(bytes)}`,
  );
}

/** @throws DevsError `VALUE_TOO_LARGE` */
export function assertFileFits(runId: string, bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new DevsError(`The file of run "${runId}" is ${bytes} bytes; the limit is ${most} bytes.`, {
    code: 'VALUE_TOO_LARGE',
    remedy:
      'Delete old checkpoints with `prune`, keep less in the state, or raise `maxFileBytes` of `postgres()` in every process.',
    context: { threadId: runId, bytes, limit: most, option: 'maxFileBytes' },
  });
}
