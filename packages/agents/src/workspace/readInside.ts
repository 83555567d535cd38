import { readFile } from 'node:fs/promises';
import { DevsError } from '@devs/core';
import { resolveInside } from './pathJail.ts';

/**
 * The text of a file in a run's folder.
 *
 * @throws DevsError `PATH_REFUSED`, or `WORKSPACE_FAILED` when there is no such file.
 */
export async function readInside(dir: string, path: string): Promise<string> {
  const file = await resolveInside(dir, path);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new DevsError(`The workspace file ${JSON.stringify(path)} cannot be read.`, {
      code: 'WORKSPACE_FAILED',
      remedy: 'List the workspace and read a file that is there.',
      cause: error,
    });
  }
}
