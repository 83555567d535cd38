import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SCRATCH_PREFIX } from './createGitDir.ts';
import { GitRepository } from './GitRepository.ts';
import type { UserRepository } from './UserRepository.ts';

/**
 * The tree of a commit with the files of the user's checkout that differ from it, in the engine's store: nothing of the
 * user's repository is written, its index included.
 */
export async function uncommittedTree(gitDir: string, base: string, user: UserRepository): Promise<string> {
  const git = new GitRepository({ gitDir, workTree: user.root });
  const scratch = await mkdtemp(join(gitDir, SCRATCH_PREFIX));
  try {
    const indexFile = join(scratch, 'index');
    await git.run(['read-tree', base], { indexFile });
    const stdin = (await user.uncommitted()).map((path) => `${path}\0`).join('');
    await git.run(['update-index', '-z', '--add', '--remove', '--stdin'], { indexFile, stdin });
    return (await git.run(['write-tree'], { indexFile })).trim();
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
