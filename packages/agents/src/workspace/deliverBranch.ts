import type { Delivery } from '@devs/core';
import type { GitRepository } from './GitRepository.ts';
import { moveRef, readRef } from './refs.ts';
import type { BranchToDeliver, UserRepository } from './UserRepository.ts';

/** What the user's repository was given last. */
const DELIVERED = 'refs/devs/delivered';

/** Puts a branch of the engine's store into the user's repository, and keeps what was given. */
export async function deliverBranch(
  git: GitRepository,
  user: UserRepository,
  { branch, commit }: Pick<BranchToDeliver, 'branch' | 'commit'>,
): Promise<Delivery> {
  const delivered = await readRef(git, DELIVERED);
  const delivery = await user.deliver({ from: git.gitDir, branch, commit, delivered });
  if (delivery.held === null && delivered !== commit) {
    await moveRef(git, DELIVERED, { from: delivered, to: commit });
  }
  return delivery;
}
