import { existsSync } from 'node:fs';
import { DevsError, type RemovedWorkspace } from '@devs/core';
import { removeTree } from '../process/removeTree.ts';
import type { GitRunWorkspace } from './GitRunWorkspace.ts';
import type { RunFolders } from './RunFolders.ts';
import type { UserRepository } from './UserRepository.ts';

/** All that was kept for one run. */
export interface KeptRun {
  readonly id: string;
  readonly branch: string;
  readonly gitDir: string;
  readonly folders: RunFolders;
  /** The run as it is looked at; nobody drives it. */
  readonly look: () => Promise<GitRunWorkspace>;
  /** `null` for a run that began empty. */
  readonly user: UserRepository | null;
}

/** Deletes a run's branch where that loses nothing, its folders, and its store last: without it, the rest has no owner. */
export async function removeKeptRun(
  { id, branch, gitDir, folders, look, user }: KeptRun,
  { force, keepBranch = false }: { readonly force: boolean; readonly keepBranch?: boolean },
): Promise<RemovedWorkspace> {
  let removed: RemovedWorkspace['branch'] = null;
  if (existsSync(gitDir)) {
    const run = await look();
    const tip = await run.ownTip();
    if (!force) await refuseLoss(id, { run, tip, user, branch });
    if (!keepBranch && tip !== null) removed = (await user?.removeBranch({ branch, tip, force })) ?? null;
  }
  await folders.removeAll();
  await removeTree(gitDir);
  return { branch: removed };
}

async function refuseLoss(
  id: string,
  {
    run,
    tip,
    user,
    branch,
  }: { readonly run: GitRunWorkspace; readonly tip: string | null } & Pick<KeptRun, 'user' | 'branch'>,
): Promise<void> {
  if (await run.hasChanges()) {
    throw refused(id, 'its folder holds changes made by hand that are not committed', 'changed');
  }
  if (tip === null || (await user?.holds(branch, tip))) return;
  throw refused(id, 'its commits are nowhere else', 'not_delivered');
}

const refused = (id: string, why: string, reason: string): DevsError =>
  new DevsError(`Run "${id}" is not removed: ${why}.`, {
    code: 'REMOVE_REFUSED',
    remedy: 'Take over what you want to keep; with --force it is removed as it is.',
    context: { id, reason },
  });
