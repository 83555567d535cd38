import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

/** A git that starts no program of the repository's, and looks at no other one than the file's. */
const GIT = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'] as const;

/** Whether a file is part of the repository around it: then whoever wrote the repository wrote the file. */
export async function isTracked(file: string): Promise<boolean> {
  const { PATH = '' } = process.env;
  const args = [...GIT, 'ls-files', '--error-unmatch', '--', path.basename(file)];
  try {
    await promisify(execFile)('git', args, { cwd: path.dirname(file), env: { PATH } });
    return true;
  } catch {
    // No git, no repository, or not in its index.
    return false;
  }
}
