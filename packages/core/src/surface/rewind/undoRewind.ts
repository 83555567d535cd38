import { internalsOf } from '../../engine/file/appInternals.ts';
import { asHuman } from '../../engine/gates/principals.ts';
import type { OpenPipeline } from '../../orchestration/orchestrationApp.ts';
import type { BranchMove, Delivery, Rescue } from '../../orchestration/ports.ts';
import { ability } from '../../orchestration/task/openWorkspace.ts';
import { taskLabel } from '../../orchestration/taskStates.ts';
import type { Rewind } from '../../state/runs/RewindStore.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
import {
  deliverRun,
  finishRewind,
  moveOf,
  type RewindAuthor,
  type RewindRequest,
  rewindAuthor,
  rewindRefused,
} from './rewindRun.ts';

export interface RewindUndone {
  /** The rewind that was taken back. */
  readonly id: string;
  readonly target: string;
  /** On top of the run's branch; `null` where nothing was committed. */
  readonly commit: string | null;
  /** What lay uncommitted in the folder. */
  readonly kept: Rescue | null;
  readonly delivery: Delivery | null;
}

/** Puts a run back where it stood before it was set back; see {@link Run.undoRewind}. */
export async function undoRewind(
  id: string,
  request: RewindRequest,
  opened: OpenPipeline,
): Promise<RewindUndone> {
  const by = asHuman(request.by, id, 'undo the rewind of');
  const { app } = opened;
  return internalsOf(app).withLease(id, async (lease) => {
    await finishRewind(lease, opened);
    const rewind = await requireLastRewind(id, opened);
    const author = rewindAuthor({ ...request, by });
    const undoId = internalsOf(app).newId();
    const move = await wayBack(undoId, rewind, author, opened);
    await commitUndo({ undoId, lease, rewind, move, author }, opened);
    const kept = await finishRewind(lease, opened);
    const delivery = move === null ? null : await deliverRun(id, opened);
    return {
      id: rewind.id,
      target: taskLabel(rewind.targetTaskId),
      commit: move?.to ?? null,
      kept,
      delivery,
    };
  });
}

/** The rewind that nothing was committed after. */
async function requireLastRewind(threadId: string, { app }: Pick<OpenPipeline, 'app'>): Promise<Rewind> {
  const last = internalsOf(app).store.rewinds.list(threadId).at(-1);
  const { config } = await app.graph.getState({ configurable: { thread_id: threadId } });
  const isLast = last?.before.placedId === config.configurable?.['checkpoint_id'];
  if (last?.state === 'done' && last.before.takesBack === null && isLast) return last;
  throw rewindRefused(threadId, 'moved_on', {
    what: 'its last action was not a rewind',
    remedy: 'Resume the run, or rewind it to another task.',
  });
}

async function wayBack(
  id: string,
  rewind: Rewind,
  { principal, reason }: RewindAuthor,
  { pipeline }: Pick<OpenPipeline, 'pipeline'>,
): Promise<BranchMove | null> {
  const move = moveOf(rewind);
  if (move === null || pipeline === null) return null;
  const { threadId, targetTaskId } = rewind;
  const label = taskLabel(targetTaskId);
  const message = [
    `Undo going back to ${label}`,
    ...(reason === null ? [] : [reason]),
    `Devs-Rewind-Undone: ${label} (${targetTaskId}), by ${principal}`,
  ].join('\n\n');
  const workspace = await pipeline.workspace.open(threadId);
  return ability(workspace, 'reinstate')({ id, move, message });
}

interface UndoCommit {
  readonly undoId: string;
  readonly lease: Lease;
  readonly rewind: Rewind;
  readonly move: BranchMove | null;
  readonly author: RewindAuthor;
}

async function commitUndo(
  { undoId, lease, rewind, move, author }: UndoCommit,
  { app }: Pick<OpenPipeline, 'app'>,
): Promise<void> {
  const { threads, rewinds } = internalsOf(app).store;
  const { id, threadId, targetTaskId, before } = rewind;
  const { principal, reason } = author;
  await internalsOf(app).rewindTo(lease, { copyOf: before.checkpointId }, (emit, placedId) => {
    const { status } = threads.require(threadId);
    const stood = { checkpointId: before.placedId, placedId, status, takesBack: id };
    rewinds.markUndone(id);
    rewinds.insert({
      id: undoId,
      threadId,
      targetTaskId,
      undone: [],
      before: { ...stood, ...author, folder: move?.folder ?? null },
      refBefore: move?.from ?? null,
      refAfter: move?.to ?? null,
    });
    const isOver = before.status === 'completed';
    threads.reopen(lease, isOver ? 'completed' : 'paused', isOver ? null : 'a rewind was undone');
    const payload = { targetTaskId, principal, ...(reason !== null && { reason }) };
    emit('REWIND_UNDONE', payload, { threadId, taskId: targetTaskId });
  });
}
