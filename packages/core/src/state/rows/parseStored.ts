import { DevsError } from '../../errors/DevsError.ts';

/**
 * Parses JSON that the engine itself stored.
 *
 * @param where - Table and row, for people.
 * @throws DevsError `STATE_CORRUPT` if it is none.
 */
export function parseStored(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new DevsError(`The stored value in ${where} is not valid JSON.`, {
      code: 'STATE_CORRUPT',
      remedy: 'Run devs admin doctor, then restore a backup of the state file.',
      context: { where },
      cause,
    });
  }
}
