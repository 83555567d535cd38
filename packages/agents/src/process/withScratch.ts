import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}
