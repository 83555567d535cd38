import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Author } from '@devs/core';
import { SCRATCH_PREFIX } from './createGitDir.ts';
import { GitRepository } from './GitRepository.ts';
import { treeOf } from './refs.ts';
import type { UserRepository } from './UserRepository.ts';

/** A person takes along what they have not committed. */
export interface UncommittedChanges {
  /** Signs the commit. */
  readonly author: Author;
  /** As the log names them. */
  readonly principal: string;
}

/**
 * The tree of a commit with the files of the user's checkout that differ from it, in the engine's store: nothing of the
 * user's repository is written, its index included. `null` where nothing differs.
 */
export async function uncommittedTree(
  { gitDir }: Pick<GitRepository, 'gitDir'>,
  base: string,
  user: UserRepository,
): Promise<string | null> {
  const git = new GitRepository({ gitDir, workTree: user.root });
  const scratch = await mkdtemp(join(gitDir, SCRATCH_PREFIX));
  try {
    const indexFile = join(scratch, 'index');
    await git.run(['read-tree', base], { indexFile });
    const stdin = (await user.uncommitted()).map((path) => `${path}\0`).join('');
    await git.run(['update-index', '-z', '--add', '--remove', '--stdin'], { indexFile, stdin });
    const tree = (await git.run(['write-tree'], { indexFile })).trim();
    return tree === (await treeOf(git, base)) ? null : tree;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
