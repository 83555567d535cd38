import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DevsError } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { SCRATCH_PREFIX } from './createGitDir.ts';
import type { GitRepository } from './GitRepository.ts';
import { treeOf } from './refs.ts';
import { namedFiles } from './trees.ts';
import type { UserRepository } from './UserRepository.ts';
import type { UncommittedFiles } from './uncommittedFiles.ts';

/** A person takes along what they have not committed. */
export interface UncommittedChanges {
  /** Signs the commit. */
  readonly author: WorkspacePort.Author;
  /** As the log names them. */
  readonly principal: string;
}

/**
 * The tree of a commit with the files of the user's checkout that differ from it, in the engine's store: nothing of the
 * user's repository is written, its index included. `null` where nothing differs.
 *
 * @throws DevsError `WORKSPACE_FAILED` for files that go through a filter.
 */
export async function uncommittedTree(
  store: GitRepository,
  base: string,
  user: UserRepository,
): Promise<string | null> {
  const files = await user.uncommitted();
  refuseFiltered(files);
  const scratch = await mkdtemp(join(store.gitDir, SCRATCH_PREFIX));
  try {
    const indexFile = join(scratch, 'index');
    const tree = await user.intoStore(store, async (run) => {
      await run(['read-tree', base], { indexFile });
      const stdin = files.changed.map((path) => `${path}\0`).join('');
      await run(['update-index', '-z', '--add', '--remove', '--stdin'], { indexFile, stdin });
      return (await run(['write-tree'], { indexFile })).trim();
    });
    return tree === (await treeOf(store, base)) ? null : tree;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * What git would store of such a file its filter alone can tell, and none is started: as it lies there it would be a large
 * file in every clone, or a secret in plain text.
 *
 * @throws DevsError `WORKSPACE_FAILED`
 */
export function refuseFiltered({ filtered, unknown }: Pick<UncommittedFiles, 'filtered' | 'unknown'>): void {
  const files = [...filtered, ...unknown];
  if (files.length === 0) return;
  const filters = [...new Set(files.map(({ filter }) => filter))].join(', ');
  throw new DevsError(
    `Cannot include ${namedFiles(files.map(({ path }) => path))}: a git filter (${filters}) applies, which devs does not run.`,
    {
      code: 'WORKSPACE_FAILED',
      remedy: 'Commit or restore these files, then start again. Or start without your uncommitted changes.',
      context: { files: files.length },
    },
  );
}
