// `.devs/config.json` of a project: where it is, and its bytes.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { usageError } from '../usageError.ts';

/** Beside the state file, out of the agents' workspace: nothing a run writes configures the next one. */
export const configPath = (dir: string): string => path.join(dir, '.devs', 'config.json');

/**
 * The bytes of a configuration; `null` where there is none. Not blocking: an archive can hold a pipe of this name, whose opening
 * would wait for a writer.
 *
 * @throws DevsError `CONFIG_INVALID`
 */
export async function configBytes(file: string): Promise<Buffer | null> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) throw new Error('it is not a file');
    return await handle.readFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw invalidConfig(file, (error as Error).message, error);
  } finally {
    await handle?.close();
  }
}

export function invalidConfig(file: string, why: string, cause: unknown) {
  return usageError(
    `Cannot use ${file}: ${why}`,
    'Correct it (see docs/configuration.md), or remove it and run devs init.',
    cause,
  );
}
