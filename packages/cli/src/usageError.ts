import { DevsError } from '@devs/core';

/** The command line or a file it names cannot be used as it is. */
export function usageError(message: string, remedy: string, cause?: unknown): DevsError {
  return new DevsError(message, { code: 'CONFIG_INVALID', remedy, cause });
}
