import type { EventSink } from '../../events/EventBus.ts';
import type { FencedLease } from '../../state/Fence.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import { assertSameGraph } from '../compile/graphChange.ts';
import type { GraphShape } from '../compile/graphShape.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import { type CheckpointUpdate, stagedUpdate, type UpdatableGraph } from './stagedUpdate.ts';

export interface RewindToDeps {
  readonly store: EngineStore;
  readonly saver: SqliteSaver;
  readonly graph: UpdatableGraph;
  readonly shape: GraphShape;
}

/** What is recorded with a placement, in its transaction. */
export type RecordUpdate = (emit: EventSink['emit'], placedId: string) => void;

/**
 * Puts a checkpoint on top of a run's latest. In the same transaction the run's open questions are withdrawn, calls in
 * flight are counted as made, the run becomes resumable, and `record` writes what belongs to it. Steps recorded until
 * then stay on record and are not replayed: LangGraph names the visits anew.
 *
 * @throws DevsError `GRAPH_CHANGED`, `LEASE_LOST`: nothing is written then.
 */
export async function rewindTo(
  lease: Lease,
  placement: CheckpointUpdate,
  record: RecordUpdate,
  deps: RewindToDeps,
): Promise<void> {
  assertSameGraph(deps.store.threads.require(lease.threadId), deps.shape);
  storePlacement(await stageUpdate(lease, placement, deps), record, deps);
}

/** A placement that is ready to be stored under a lease. */
export interface StagedWrite {
  readonly lease: FencedLease;
  readonly id: string;
  /** In the caller's transaction. */
  readonly save: () => void;
}

/** Makes a placement ready; the lease need not be held yet. */
export async function stageUpdate(
  lease: FencedLease,
  placement: CheckpointUpdate,
  { saver, graph }: Pick<RewindToDeps, 'saver' | 'graph'>,
): Promise<StagedWrite> {
  const { threadId, epoch } = lease;
  const { config, staged } = await stagedUpdate(threadId, placement, { graph, saver });
  const { checkpoint_id } = config.configurable ?? {};
  const configurable = { thread_id: threadId, checkpoint_ns: '', checkpoint_id };
  const driven = { configurable: { ...configurable, lease_thread_id: threadId, lease_epoch: epoch } };
  return { lease, id: staged.checkpoint.id, save: await saver.stage(driven, staged) };
}

/** Stores a placement, with all that belongs to it. @throws DevsError `LEASE_LOST` */
export function storePlacement(
  { lease, id, save }: StagedWrite,
  record: RecordUpdate,
  { store }: Pick<RewindToDeps, 'store'>,
): void {
  store.commitUnder(lease, (emit) => {
    save();
    withdrawQuestions(lease.threadId, store);
    store.steps.abandon(lease.threadId);
    store.waits.keepOnly(lease.threadId, []);
    record(emit, id);
  });
}

function withdrawQuestions(threadId: string, { sessions, failureGate }: EngineStore): void {
  for (const { id, kind, taskId } of sessions.supersedeOpen(threadId)) {
    if (kind === 'task_failure') failureGate.withdraw(taskId, id);
  }
}
