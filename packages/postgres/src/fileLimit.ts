import { DevsError } from '@devs/core';

/** What a run's file may have, bytes: it is read whole by who takes the run up. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** @throws DevsError `VALUE_TOO_LARGE` */
export function assertFileFits(runId: string, bytes: number): void {
  if (bytes <= MAX_FILE_BYTES) return;
  throw new DevsError(`The file of run "${runId}" has ${Math.ceil(bytes / 2 ** 20)} MiB, more than 256.`, {
    code: 'VALUE_TOO_LARGE',
    remedy:
      'Make it smaller with `prune`, which deletes checkpoints that nobody needs, and keep less in the state.',
    context: { runId, bytes },
  });
}
