// Puts a checkpoint on top of a run from outside: LangGraph computes it, and one transaction stores it.

import type { RunnableConfig } from '@langchain/core/runnables';
import type { ChannelVersions, Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import type { EventSink } from '../../events/EventBus.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import { isOfExecution } from '../../state/steps/stepRecords.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
import type { Engine } from '../drive/Engine.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { assertSameGraph } from '../graph/graphShape.ts';
import { configOf, requiredNamespace } from '../saver/checkpointConfig.ts';
import { DelegatingSaver } from '../saver/DelegatingSaver.ts';
import type { StagedCheckpoint } from '../saver/SqliteSaver.ts';

/**
 * Where a run is put: on what `node` would have returned, or the one that LangGraph finds to have run last; or where it
 * stood at a checkpoint of its own.
 */
export type CheckpointUpdate =
  | { readonly node: string | undefined; readonly update: object | null }
  | { readonly copyOf: string };

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
  engine: Pick<Engine, 'graph' | 'saver' | 'shape' | 'store'>,
): Promise<void> {
  assertSameGraph(engine.store.threads.require(lease.threadId), engine.shape);
  storePlacement(await stageUpdate(lease, placement, engine), record, engine);
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
  { saver, graph }: Pick<Engine, 'graph' | 'saver'>,
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
  { store }: Pick<Engine, 'store'>,
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

/** A checkpoint to put on top of a run's latest, not stored yet, with the config to store it under. */
interface StagedUpdate {
  readonly config: RunnableConfig;
  readonly staged: StagedCheckpoint;
}

/** LangGraph's name for "the same again". */
const COPY = '__copy__';

/**
 * Lets LangGraph compute the checkpoint that a placement leads to, routing included, and stores nothing: the caller
 * stores it in the transaction of everything else that belongs to it.
 *
 * The one place that calls `updateState`.
 *
 * @throws DevsError `CHECKPOINT_NOT_FOUND` for a copy of a checkpoint that was pruned.
 */
async function stagedUpdate(
  threadId: string,
  placement: CheckpointUpdate,
  { graph, saver }: Pick<Engine, 'graph' | 'saver'>,
): Promise<StagedUpdate> {
  const capture = new CapturingSaver(saver);
  const configurable = { thread_id: threadId, checkpoint_ns: '', __pregel_checkpointer: capture };
  if ('copyOf' in placement) {
    const at = { configurable: { ...configurable, checkpoint_id: placement.copyOf } };
    if ((await saver.getTuple(at)) === undefined) throw stagedCheckpointMissing(threadId, placement.copyOf);
    await graph.updateState(at, null, COPY);
  } else {
    await graph.updateState({ configurable }, placement.update, placement.node);
  }
  return capture.captured();
}

const stagedCheckpointMissing = (threadId: string, checkpointId: string): DevsError =>
  new DevsError(`Checkpoint "${checkpointId}" of run "${threadId}" was pruned.`, {
    code: 'CHECKPOINT_NOT_FOUND',
    remedy: 'Continue from the current state of the run.',
    context: { threadId, checkpointId },
  });

/** Reads what is stored, and keeps what would be. */
class CapturingSaver extends DelegatingSaver {
  #captured: StagedUpdate | null = null;

  captured(): StagedUpdate {
    if (this.#captured === null) throw new Error('LangGraph did not create a checkpoint for the update.');
    return this.#captured;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    this.#captured = { config, staged: { checkpoint, metadata, newVersions, writes: [] } };
    return configOf({ ...requiredNamespace(config), checkpointId: checkpoint.id });
  }

  /** What the update wrote is in the checkpoint it leads to. */
  override async putWrites(): Promise<void> {}
}

/**
 * Refuses to change what the next visit of a run starts from when the visit has recorded work: it would undo the change.
 * Call it while the run is held.
 *
 * @throws DevsError `WORKSPACE_BUSY` when the run stands in the middle of such a visit.
 */
export async function assertBetweenNodes(
  threadId: string,
  { store, graph }: Pick<Engine, 'graph' | 'store'>,
): Promise<void> {
  const { tasks } = await graph.getState({ configurable: { thread_id: threadId } });
  const steps = store.steps.listForThread(threadId).filter(({ kind }) => kind === 'work');
  const begun = tasks.find(({ id }) => steps.some((step) => isOfExecution(step, id)));
  if (begun !== undefined) throw inTheMiddle(threadId, begun.name);
}

const inTheMiddle = (threadId: string, node: string): DevsError =>
  new DevsError(`Run "${threadId}" stopped inside node "${node}", which must finish first.`, {
    code: 'WORKSPACE_BUSY',
    remedy: 'Resume the run until it waits at a gate or has ended, then try again.',
    context: { threadId, node },
  });
