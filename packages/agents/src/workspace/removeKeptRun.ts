import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { DevsError } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { removeTree } from '../process/scratch.ts';
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

interface Removing {
  readonly force: boolean;
  /** @defaultValue false */
  readonly keepBranch?: boolean;
}

/** Of a store whose run is being removed. */
export const GONE = '.gone';

/**
 * Deletes a run's branch where that loses nothing, its folders and its store. Whether it may is judged while all of it is
 * there; then the store gets another name, in one step, and from there on a removal that was cut off only has to go on: half
 * a folder would look like changes made by hand.
 */
export async function removeKeptRun(
  kept: KeptRun,
  removing: Removing,
): Promise<WorkspacePort.RemovedWorkspace> {
  const { gitDir, folders } = kept;
  const branch = existsSync(gitDir) ? await giveUp(kept, removing) : null;
  await folders.removeAll();
  await removeTree(gitDir + GONE);
  return { branch };
}

async function giveUp(
  { id, branch, gitDir, look, user }: KeptRun,
  { force, keepBranch = false }: Removing,
): Promise<WorkspacePort.RemovedWorkspace['branch']> {
  const run = await look();
  const tip = await run.ownTip();
  if (!force) await refuseLoss(id, { run, tip, user, branch });
  const removed = keepBranch || tip === null ? null : await user?.removeBranch({ branch, tip, force });
  await removeTree(gitDir + GONE);
  await rename(gitDir, gitDir + GONE);
  return removed ?? null;
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
    throw keptRunRefused(id, 'its folder has uncommitted changes made by hand', 'changed');
  }
  if (tip === null || (await user?.holds(branch, tip))) return;
  throw keptRunRefused(id, 'its commits exist nowhere else', 'not_delivered');
}

const keptRunRefused = (id: string, why: string, reason: string): DevsError =>
  new DevsError(`Run "${id}" was not removed: ${why}.`, {
    code: 'REMOVE_REFUSED',
    remedy: 'Save the changes that you need, or remove the run anyway with --force.',
    context: { threadId: id, reason },
  });
