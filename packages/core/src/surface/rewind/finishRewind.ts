import { internalsOf } from '../../engine/file/appInternals.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { OpenPipeline } from '../../orchestration/orchestrationApp.ts';
import type { BranchMove, Driver, Rescue } from '../../orchestration/ports.ts';
import { ability, driverOf } from '../../orchestration/task/openWorkspace.ts';
import type { Rewind } from '../../state/runs/RewindStore.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';

/**
 * Lets branch and folder follow a rewind that is recorded and not finished; also after a kill in between. Then the run
 * is woken, for whoever waits for one of its gates. Does nothing when there is none.
 *
 * @returns What lay uncommitted in the folder and was kept.
 */
export async function finishRewind(lease: Lease, { app, pipeline }: OpenPipeline): Promise<Rescue | null> {
  const { store } = internalsOf(app);
  const { threadId } = lease;
  const rewind = store.rewinds.unfinished(threadId);
  if (rewind === null) return null;
  const move = moveOf(rewind);
  const kept =
    move === null ? null : await followMove(move, pipeline, { threadId, ...driverOf(store, lease) });
  store.commitUnder(lease, (emit) => {
    store.rewinds.finish(rewind.id);
    if (kept !== null) emit('WORKSPACE_RESCUED', { ...kept }, { threadId });
    const { targetTaskId, before } = rewind;
    const { principal, reason } = before;
    const signal = `rewind:${rewind.id}`;
    store.threads.signal(threadId, {
      id: signal,
      kind: 'rewind',
      payload: { targetTaskId, principal, reason },
    });
    store.threads.signals.consume(signal);
  });
  return kept;
}

/** Where a rewind takes the run's files; `null` in a run without. */
export function moveOf({ id, refBefore, refAfter, before }: Rewind): BranchMove | null {
  return before.folder === null ? null : { id, from: refBefore, to: refAfter, folder: before.folder };
}

async function followMove(
  move: BranchMove,
  pipeline: OpenPipeline['pipeline'],
  { threadId, ...driver }: Driver & { readonly threadId: string },
): Promise<Rescue | null> {
  if (pipeline === null) {
    throw new DevsError(`The rewind of run "${threadId}" is not finished: its files were not updated yet.`, {
      code: 'CONFIG_INVALID',
      remedy: 'Open the orchestrator with the agents, workspace and checks that the run was started with.',
      context: { threadId },
    });
  }
  return ability(await pipeline.workspace.open(threadId, { driver }), 'follow')(move);
}
