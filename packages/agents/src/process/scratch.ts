import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Characters; a system takes a path of 1,024 at least (macOS), or 4,096 (Linux). */
const LONGEST = 512;

/** Removes a folder with all that is in it, also where paths in it are longer than the system takes. */
export async function removeTree(dir: string): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      await rm(dir, { recursive: true, force: true, maxRetries: 3 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENAMETOOLONG') throw error;
      if (!(await raiseDeepFolders(dir, dir, `${round}`))) throw error;
    }
  }
}

/**
 * Moves each folder that lies too deep right under `root`; false where there was none. `rm` fails at the first of them and goes
 * on with the others meanwhile: what has gone is as good as moved.
 */
async function raiseDeepFolders(root: string, folder: string, round: string): Promise<boolean> {
  let raised = 0;
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessGone);
  if (entries === null) return true;
  for (const entry of entries.filter((found) => found.isDirectory())) {
    const path = join(folder, entry.name);
    if (path.length - root.length > LONGEST) {
      await rename(path, join(root, `${round}-${raised}-${entry.name.length}`)).catch(unlessGone);
      raised += 1;
    } else if (await raiseDeepFolders(root, path, `${round}-${raised}`)) raised += 1;
  }
  return raised > 0;
}

function unlessGone(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return null;
}

/** Folders of one command, empty at its start and removed after it. */
export interface Scratch {
  readonly dir: string;
  readonly home: string;
  readonly temporary: string;
}

/** Gives a command its folders for as long as `work` takes. */
export async function withScratch<Result>(
  prefix: string,
  work: (scratch: Scratch) => Promise<Result>,
): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), prefix));
  const scratch = { dir, home: join(dir, 'home'), temporary: join(dir, 'tmp') };
  try {
    await Promise.all([mkdir(scratch.home), mkdir(scratch.temporary)]);
    return await work(scratch);
  } finally {
    // What cannot be removed is the system's to remove, and never hides what became of the command.
    await removeTree(dir).catch(() => undefined);
  }
}
