import { clearLog } from '../db/clearLog.ts';
import { isOver } from '../engine/drive/outcome.ts';
import { internalsOf } from '../engine/file/FileApp.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { asHuman, type Principal, principalText } from '../engine/gates/principals.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { OrchestrationApp } from '../orchestration/orchestrationApp.ts';
import type { RemovedWorkspace, Workspace } from '../orchestration/ports.ts';

export interface Removal {
  readonly by: Principal;
  /** Where the run worked. That of a run that is elsewhere is left alone. @defaultValue its files stay */
  readonly workspace?: Workspace;
  /** Also a run that has not ended, and work that is nowhere else. @defaultValue false */
  readonly force?: boolean;
}

export interface RemovedRun {
  readonly id: string;
  /** What became of its branch; `null` where there is none. */
  readonly branch: RemovedWorkspace['branch'];
  /** Bytes of the state file that can be used again. */
  readonly bytes: number;
}

/** Deletes a run: its folder and store first, so that a kill in between leaves a run that can be removed again. */
export async function removeRun(id: string, removal: Removal, app: OrchestrationApp): Promise<RemovedRun> {
  const { workspace, force = false } = removal;
  const own = internalsOf(app);
  const { store } = own;
  const human = assertRemovable(id, removal, store);
  const removed = await own.withLease(id, async (lease) => {
    const { branch } = (await workspace?.remove?.(id, { force })) ?? { branch: null };
    const { bytes } = store.commit((emit) => {
      const swept = store.remover.remove(lease);
      emit('RUN_REMOVED', { id, principal: principalText(human) });
      return swept;
    });
    return { id, branch, bytes };
  });
  await clearLog(store.db);
  return removed;
}

/** Refuses what {@link removeRun} refuses of the run itself; else says who removes it. */
export function assertRemovable(id: string, { by, force = false }: Removal, store: EngineStore): Principal {
  const human = asHuman(by, id, 'remove');
  const { status } = store.threads.require(id);
  if (!isOver(status) && !force) throw notEnded(id, status);
  return human;
}

const notEnded = (id: string, status: string): DevsError =>
  new DevsError(`Run "${id}" has not ended: it is ${status}.`, {
    code: 'REMOVE_REFUSED',
    remedy: 'Cancel the run, or resume it until it ends. To remove it anyway, use --force.',
    context: { threadId: id, reason: 'not_ended' },
  });
