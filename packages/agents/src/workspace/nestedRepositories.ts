import { DevsError } from '@devs/core';
import type { GitRepository } from './GitRepository.ts';

/** The path of the first entry that is a repository itself, in a listing of `ls-files --stage` or `ls-tree`. */
export function repositoriesIn(listing: string): string | null {
  const entry = listing.split('\0').find((candidate) => candidate.startsWith('160000 '));
  return entry === undefined ? null : entry.slice(entry.indexOf('\t') + 1);
}

/** @throws DevsError `WORKSPACE_FAILED` when a commit has a submodule. */
export async function refuseSubmodules(git: GitRepository, commit: string): Promise<void> {
  const submodule = repositoriesIn(await git.run(['ls-tree', '-r', '-z', commit]));
  if (submodule === null) return;
  throw new DevsError(`The repository has a submodule: ${JSON.stringify(submodule)}.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Run in a repository without submodules; their files cannot be stored with the run.',
  });
}
