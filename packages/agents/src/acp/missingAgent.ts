import { DevsError, isDevsError } from '@devs/core';
import type { AcpProgram } from './AcpProgram.ts';

/** An agent that is not installed, with the command that installs it. */
export function missingAgent({ name, argv, install }: AcpProgram, error: unknown): unknown {
  if (install === undefined || !isDevsError(error, 'CONFIG_INVALID')) return error;
  return new DevsError(`The command ${JSON.stringify(argv[0])} of ${name} was not found.`, {
    code: 'CONFIG_INVALID',
    remedy: `Install it with \`${install}\`, or put its folder on the PATH.`,
  });
}
