import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { toFileFault } from './sqliteFault.ts';

/** Read and write for the owner, nothing for others. */
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/**
 * Creates the state file, empty, and its folder where they are missing, readable by their owner only. A folder `.devs` is
 * ignored by git.
 *
 * The file exists before SQLite opens it because SQLite gives `-wal` and `-shm` the mode of the main file. It is opened
 * here only when it did not exist: closing a descriptor of a file that this process has open elsewhere would drop
 * the locks SQLite holds on it. The mode of a folder that existed is the user's business, unless it is named `.devs`.
 *
 * @throws DevsError `STATE_IO` or `STATE_DISK_FULL`.
 */
export function ensureStateFile(path: string): void {
  try {
    const folder = dirname(path);
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
    if (basename(folder) === '.devs') {
      makePrivate(folder);
      ignore(folder);
    }
    createEmpty(path);
    for (const needed of [folder, path]) accessSync(needed, constants.W_OK);
  } catch (error) {
    throw toFileFault(error, path);
  }
}

/** Before anything else is in it: a commit that is made meanwhile must not take the runs in. */
function ignore(folder: string): void {
  const file = join(folder, '.gitignore');
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) writeFileSync(file, '*\n', { flag: 'wx', mode: PRIVATE_FILE });
  else if (found.size === 0) writeFileSync(file, '*\n'); // Left by a disk that was full.
}

/** Takes nothing from its owner and gives him nothing: a folder that he made read-only stays so. */
function makePrivate(folder: string): void {
  const { mode } = statSync(folder);
  if ((mode & ~PRIVATE_FOLDER & 0o777) !== 0) chmodSync(folder, mode & PRIVATE_FOLDER);
}

/**
 * Creates an empty file that only its owner can read, under any umask.
 *
 * @throws A Node.js error `EEXIST` if the path is taken.
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', PRIVATE_FILE));
}

function createEmpty(path: string): void {
  try {
    createPrivateFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
