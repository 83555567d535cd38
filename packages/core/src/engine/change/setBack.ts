import type { EventBus, EventSink } from '../../events/EventBus.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import { assertSameGraph } from '../compile/graphChange.ts';
import type { GraphShape } from '../compile/graphShape.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import { type Placement, stagedUpdate, type UpdatableGraph } from './stagedUpdate.ts';

export interface SetBackDeps {
  readonly store: EngineStore;
  readonly saver: SqliteSaver;
  readonly graph: UpdatableGraph;
  readonly shape: GraphShape;
  readonly events: EventBus;
}

/** What is recorded with a placement, in its transaction. */
export type RecordPlacement = (emit: EventSink['emit'], placedId: string) => void;

/**
 * Puts a checkpoint on top of a run's latest. In the same transaction the run's open questions are withdrawn, calls in
 * flight are counted as made, the run becomes resumable, and `record` writes what belongs to it. Steps recorded until
 * then stay on record and are not replayed: LangGraph names the visits anew.
 *
 * @throws DevsError `GRAPH_CHANGED`, `LEASE_LOST`: nothing is written then.
 */
export async function setBack(
  { threadId, epoch }: Lease,
  placement: Placement,
  record: RecordPlacement,
  { store, saver, graph, shape, events }: SetBackDeps,
): Promise<void> {
  assertSameGraph(store.threads.require(threadId), shape);
  const { config, staged } = await stagedUpdate(threadId, placement, { graph, saver });
  const { checkpoint_id } = config.configurable ?? {};
  const configurable = { thread_id: threadId, checkpoint_ns: '', checkpoint_id };
  const driven = { configurable: { ...configurable, lease_thread_id: threadId, lease_epoch: epoch } };
  const save = await saver.stage(driven, staged);
  store.transact(events, (emit) => {
    store.threads.fence({ threadId, epoch }).assertInTx();
    save();
    withdrawQuestions(threadId, store);
    store.steps.abandon(threadId);
    store.waits.keepOnly(threadId, []);
    record(emit, staged.checkpoint.id);
  });
}

function withdrawQuestions(threadId: string, { sessions, failureGate }: EngineStore): void {
  for (const { id, kind, taskId } of sessions.supersedeOpen(threadId)) {
    if (kind === 'task_failure') failureGate.withdraw(taskId, id);
  }
}
