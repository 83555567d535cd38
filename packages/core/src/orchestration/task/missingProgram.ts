import { DevsError } from '../../errors/DevsError.ts';

/** Ends a drive where nothing could be checked: no attempt of an agent can mend that. */
export function missingProgram(program: string, command: string): DevsError {
  return new DevsError(`The check "${command}" cannot be run: ${program} is not there.`, {
    code: 'CONFIG_INVALID',
    remedy: `Install ${program}, or have the project's setup install it, then resume.`,
  });
}
