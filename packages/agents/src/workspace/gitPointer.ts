import { rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { GitRepository } from './GitRepository.ts';

/**
 * Points the folder's own `.git` at the engine's git dir, so that a git command given in the folder (the user's, or a
 * test's) works on the run and never on a repository the folder happens to lie in. The engine itself never reads it.
 *
 * @param scratch - A folder on the same file system, outside the workspace.
 */
export async function writeGitPointer({ gitDir, workTree }: GitRepository, scratch: string): Promise<void> {
  const staged = join(scratch, 'pointer');
  await writeFile(staged, `gitdir: ${relative(workTree, gitDir)}\n`);
  // Whatever a command put there goes, a repository of its own included.
  const pointer = join(workTree, '.git');
  await rm(pointer, { recursive: true, force: true });
  await rename(staged, pointer);
}
