import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { repositoryAround } from './repositoryAround.ts';

/** A git that starts no program of the repository's, and reads one that belongs to another user too. */
const GIT = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'safe.directory=*'].flatMap((setting) => [
  '-c',
  setting,
]);

/**
 * Whether one of these files of a folder is part of the repository around it: then whoever wrote the repository wrote the file.
 * Where there is a repository and git cannot say, it counts as part of it.
 */
export async function isTracked(folder: string, names: readonly string[]): Promise<boolean> {
  const { PATH = '' } = process.env;
  const args = [...GIT, 'ls-files', '--', ...names];
  try {
    const { stdout } = await promisify(execFile)('git', args, {
      cwd: folder,
      env: { PATH, GIT_CONFIG_NOSYSTEM: '1' },
    });
    return stdout !== '';
  } catch {
    return repositoryAround(folder) !== null;
  }
}
