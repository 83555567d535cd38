import { DevsError } from '@devs/core';
import type { GitRepository } from './GitRepository.ts';

/** @throws DevsError `WORKSPACE_FAILED` when a commit has a submodule. */
export async function refuseSubmodules(git: GitRepository, commit: string): Promise<void> {
  const submodule = await git.first(['ls-tree', '-r', '-z', commit], (entry) => entry.startsWith('160000 '));
  if (submodule === null) return;
  const path = submodule.slice(submodule.indexOf('\t') + 1);
  throw new DevsError(`The repository has a submodule: ${JSON.stringify(path)}.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Use a repository without submodules: their files cannot be stored with the run.',
  });
}
