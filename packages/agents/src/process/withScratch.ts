import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from './removeTree.ts';

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
