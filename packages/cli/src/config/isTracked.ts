import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { repositoryAround } from './repositoryAround.ts';

/** A git that starts no program of the repository's, and reads one that belongs to another user too. */
const GIT = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'safe.directory=*'].flatMap((setting) => [
  '-c',
  setting,
]);

/** What `ls-files --error-unmatch` ends with for a file that the repository does not have. */
const NOT_THERE = 1;

/**
 * Whether a file is part of the repository around it: then whoever wrote the repository wrote the file. Where there is a
 * repository and git cannot say, it counts as part of it.
 */
export async function isTracked(file: string): Promise<boolean> {
  const { PATH = '' } = process.env;
  const folder = path.dirname(file);
  const args = [...GIT, 'ls-files', '--error-unmatch', '--', path.basename(file)];
  try {
    await promisify(execFile)('git', args, { cwd: folder, env: { PATH, GIT_CONFIG_NOSYSTEM: '1' } });
    return true;
  } catch (error) {
    return (error as { readonly code?: unknown }).code !== NOT_THERE && repositoryAround(folder) !== null;
  }
}
