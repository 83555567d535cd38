import { DevsError } from '@devs/core';

/** What a run's file may have, bytes: who takes the run up reads it as a whole. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** @throws DevsError `VALUE_TOO_LARGE` */
export function assertFileFits(runId: string, bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new DevsError(`The file of run "${runId}" has ${bytes} bytes, more than ${most}.`, {
    code: 'VALUE_TOO_LARGE',
    remedy:
      'Make it smaller with `prune`, which deletes checkpoints that nobody needs, and keep less in the state.',
    context: { runId, bytes },
  });
}
