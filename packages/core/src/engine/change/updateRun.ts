import type { RunnableConfig } from '@langchain/core/runnables';
import { INTERRUPT, isCommand, START } from '@langchain/langgraph';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
} from '@langchain/langgraph-checkpoint';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type { EventSink } from '../../events/events.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import { isOfExecution } from '../../state/steps/stepRecords.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
import { namespacePath } from '../breakpoints/Breakpoint.ts';
import type { Engine } from '../drive/Engine.ts';
import { holdLease, releasing, threadBusy } from '../drive/lease.ts';
import { isOver, runError } from '../drive/RunResult.ts';
import { GUARD_NAMES } from '../execution/nodeExecution.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { asHuman, type Principal, principalText } from '../gates/principals.ts';
import { assertSameGraph, type GraphShape } from '../graph/graphShape.ts';
import { RETURN_CHANNELS } from '../graph/graphSource.ts';
import { configOf, requiredNamespace } from '../saver/checkpointConfig.ts';
import { DelegatingSaver } from '../saver/DelegatingSaver.ts';
import { isOutput } from '../saver/openQuestions.ts';
import type { StagedCheckpoint } from '../saver/SqliteSaver.ts';
import { type InnerGraph, innerGraphAt, type Subgraph } from './updateSubgraph.ts';

// Puts a checkpoint on top of a run from outside: LangGraph computes it, and one transaction stores it.

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
  /** Of a graph inside a node; for the run's own graph all that is open is asked anew. */
  readonly inside?: Pick<InnerGraph, 'asksAnew' | 'stays'>;
  /** Whether the run has ended with it: a graph inside a node is followed by that node. */
  readonly isAtEnd: boolean;
}

/** Makes a placement ready; the lease need not be held yet. */
export async function stageUpdate(
  lease: FencedLease,
  placement: CheckpointUpdate,
  { saver, graph }: Pick<Engine, 'graph' | 'saver'>,
): Promise<StagedWrite> {
  const { threadId, epoch } = lease;
  const { config, staged, isAtEnd } = await stagedUpdate(threadId, placement, { graph, saver });
  const { checkpoint_id } = config.configurable ?? {};
  const configurable = { thread_id: threadId, checkpoint_ns: '', checkpoint_id };
  const driven = { configurable: { ...configurable, lease_thread_id: threadId, lease_epoch: epoch } };
  return { lease, id: staged.checkpoint.id, save: await saver.stage(driven, staged), isAtEnd };
}

/** Stores a placement, with all that belongs to it. @throws DevsError `LEASE_LOST` */
export function storePlacement(
  { lease, id, save, inside }: StagedWrite,
  record: RecordUpdate,
  { store }: Pick<Engine, 'store'>,
): void {
  const { threadId } = lease;
  store.commitUnder(lease, (emit) => {
    save();
    if (inside !== undefined) {
      store.sessions.withdraw(threadId, inside.asksAnew);
    } else {
      withdrawQuestions(threadId, store);
      store.steps.abandon(threadId);
    }
    store.waits.keepOnly(threadId, inside?.stays ?? []);
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
  { graph, saver }: { readonly graph: Subgraph; readonly saver: Engine['saver'] },
  checkpointNs = '',
): Promise<StagedUpdate & Pick<StagedWrite, 'isAtEnd'>> {
  const capture = new CapturingSaver(saver);
  const configurable = {
    thread_id: threadId,
    checkpoint_ns: checkpointNs,
    __pregel_checkpointer: capture,
  };
  if ('copyOf' in placement) {
    const at = { configurable: { ...configurable, checkpoint_id: placement.copyOf } };
    if ((await saver.getTuple(at)) === undefined) throw stagedCheckpointMissing(threadId, placement.copyOf);
    await graph.updateState(at, null, COPY);
  } else {
    await graph.updateState({ configurable }, placement.update, placement.node);
  }
  const captured = capture.captured();
  const { next } = await graph.getState({ configurable });
  return { ...captured, isAtEnd: next.length === 0 };
}

/** Makes an update of a graph inside a node ready. The nodes around it run again; their interrupts are emptied. */
async function stageInside(
  lease: FencedLease,
  placement: CheckpointUpdate,
  inside: InnerGraph,
  { saver }: Pick<Engine, 'saver'>,
): Promise<StagedWrite> {
  const { threadId, epoch } = lease;
  const { graph, checkpointNs, around } = inside;
  const { config, staged } = await stagedUpdate(threadId, placement, { graph, saver }, checkpointNs);
  const driven = ({ configurable }: RunnableConfig): RunnableConfig => ({
    configurable: { ...configurable, lease_thread_id: threadId, lease_epoch: epoch },
  });
  const { checkpoint_id } = config.configurable ?? {};
  const at = { configurable: { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id } };
  const writes = [
    await saver.stage(driven(at), staged),
    ...(await Promise.all(
      around.map(async (task) => {
        const staged = await saver.stageWrites(driven(task.config), [[INTERRUPT, []]], task.taskId, '');
        return staged.write;
      }),
    )),
  ];
  const save = (): void => {
    for (const write of writes) write();
  };
  return { lease, id: staged.checkpoint.id, save, inside, isAtEnd: false };
}

const stagedCheckpointMissing = (threadId: string, checkpointId: string): DevsError =>
  new DevsError(`Checkpoint "${checkpointId}" of run "${threadId}" was pruned.`, {
    code: 'CHECKPOINT_NOT_FOUND',
    remedy: 'Continue from the current state of the run.',
    context: { threadId, checkpointId },
  });

/** Reads what is stored, until it has what would be: it keeps and reads that. */
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

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (this.#captured === null) return super.getTuple(config);
    const { checkpoint, metadata } = this.#captured.staged;
    return { config, checkpoint, metadata };
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

/** Who changes the state of a run, and in whose name. */
export interface StateUpdate {
  /** The node that would have returned the values. @defaultValue the one that LangGraph finds to have run last */
  readonly asNode?: string;
  /**
   * The graph that is updated: the `config` of its state, as `getState(id, { subgraphs: true })` has it in `tasks`.
   * @defaultValue the run's own
   */
  readonly config?: RunnableConfig;
  readonly by: Principal;
}

type UpdatingEngine = Pick<Engine, 'graph' | 'saver' | 'shape' | 'store'>;

type UpdateRefusal = 'ended' | 'not_begun' | 'in_hand' | 'answer_pending' | 'moved_on' | 'not_taken';

/**
 * Writes values into the state of a run between two visits, as if a node had returned them. Its open questions are asked
 * anew, as they may show something else. Everything that can refuse it comes before the run is claimed.
 */
export async function updateRun(
  threadId: string,
  values: unknown,
  update: StateUpdate,
  engine: UpdatingEngine,
): Promise<RunnableConfig> {
  const human = asHuman(update.by, threadId, 'update the state of');
  const { store } = engine;
  for (;;) {
    const staged = await stageBetween(threadId, values, update, engine);
    const held = await holdLease(store.runs, threadId);
    const isPlaced = await releasing(held, async () => {
      // A run that was driven in between is looked at again.
      if (held.lease.epoch !== staged.lease.epoch) return false;
      storePlacement(
        staged,
        (emit, checkpointId) => {
          assertNothingAnswered(threadId, store);
          const principal = principalText(human);
          reopen(staged, `state updated by ${principal}`, store);
          const isValue = staged.checkpointNs === '' && isOfEntrypoint(engine.shape);
          const channels = isValue ? RETURN_CHANNELS : Object.keys(values ?? {});
          emit(
            'STATE_UPDATED',
            { principal, checkpointId, channels, node: update.asNode ?? null },
            { threadId },
          );
          wake(threadId, checkpointId, store);
        },
        engine,
      );
      return true;
    });
    if (isPlaced) return configOf({ threadId, checkpointNs: staged.checkpointNs, checkpointId: staged.id });
  }
}

/** An update that is ready, made of the run as it is now. */
async function stageBetween(
  threadId: string,
  values: unknown,
  { asNode, config }: Omit<StateUpdate, 'by'>,
  engine: UpdatingEngine,
): Promise<StagedWrite & { readonly checkpointNs: string }> {
  const { saver, store, shape } = engine;
  if (config === undefined) assertUpdate(values, asNode, shape);
  else store.threads.require(threadId);
  const inside = config === undefined ? undefined : await innerGraphAt(threadId, config, engine);
  if (inside === null)
    throw updateRefused(threadId, 'moved_on', 'the subgraph has continued since its state was read');
  if (inside !== undefined) assertUpdate(values, asNode, shapeOf(inside.graph));
  const epoch = (await assertBetween(threadId, engine, inside)) + 1;
  await saver.dumpInput(values, `the update of run "${threadId}"`, 'values');
  const placement = { node: asNode, update: values as object | null };
  const lease = { threadId, epoch };
  const staged = await stageOrRefuse(threadId, () =>
    inside === undefined
      ? stageUpdate(lease, placement, engine)
      : stageInside(lease, placement, inside, engine),
  );
  return { ...staged, checkpointNs: inside?.checkpointNs ?? '' };
}

function shapeOf({
  nodes,
  streamChannelsAsIs: channels = [],
}: Subgraph): Pick<GraphShape, 'nodes' | 'channels'> {
  const names = Object.keys(nodes).filter((name) => name !== START);
  return { nodes: names, channels: typeof channels === 'string' ? [channels] : channels };
}

/** A completed turn stays completed unless a node follows: the next turn starts from the new values. */
function reopen({ lease, isAtEnd }: StagedWrite, reason: string, { threads }: EngineStore): void {
  const isOfEndedTurn = isAtEnd && threads.require(lease.threadId).status === 'completed';
  threads.reopen(lease, isOfEndedTurn ? 'completed' : 'paused', isOfEndedTurn ? null : reason);
}

/** For whoever waits for one of its gates: it is asked anew. */
function wake(threadId: string, checkpointId: string, { threads }: EngineStore): void {
  const id = `update:${checkpointId}`;
  threads.signal(threadId, { id, kind: 'rewind', payload: null });
  threads.signals.consume(id);
}

/** @throws TypeError */
function assertUpdate(
  values: unknown,
  node: string | undefined,
  { nodes, channels }: Pick<GraphShape, 'nodes' | 'channels'>,
): void {
  const isValue = isOfEntrypoint({ channels });
  if (isCommand(values) || (!isValue && (typeof values !== 'object' || Array.isArray(values))))
    throw new TypeError('values: expected an object with channel values, or null');
  const engines: readonly string[] = GUARD_NAMES;
  const names = isValue ? [] : Object.keys(values ?? {});
  const other = names.find((name) => !channels.includes(name) || engines.includes(name));
  if (other !== undefined) throw new TypeError(`values: the graph has no channel "${other}"`);
  if (node !== undefined && !nodes.includes(node))
    throw new TypeError(`asNode: there is no node "${String(node)}"`);
}

/** An update of it is a return value of its function. */
const isOfEntrypoint = ({ channels }: Pick<GraphShape, 'channels'>): boolean =>
  RETURN_CHANNELS.every((name) => channels.includes(name));

/** @returns The epoch of the run's last lease: while it is the last, what was found here holds. */
async function assertBetween(
  threadId: string,
  { store, saver, graph, shape }: UpdatingEngine,
  inside: InnerGraph | undefined,
): Promise<number> {
  const thread = store.threads.require(threadId);
  const { status, leaseEpoch } = thread;
  assertSameGraph(thread, shape);
  const driver = store.threads.driverOf(threadId);
  if (driver !== null) throw threadBusy(threadId, driver, leaseEpoch);
  if (isOver(status) && status !== 'completed') throw updateRefused(threadId, 'ended', `it is ${status}`);
  const at = { configurable: { thread_id: threadId } };
  const tuple = await saver.getTuple(at);
  const latest = store.inputs.latest(threadId);
  const isBegun = latest?.turn === 1 || latest?.isTaken === true;
  if (tuple === undefined || !isBegun) throw updateRefused(threadId, 'not_begun', 'it has not started yet');
  assertNothingAnswered(threadId, store);
  if (inside !== undefined) {
    assertBetweenInside(threadId, inside, store);
    return leaseEpoch;
  }
  const { pendingWrites = [] } = tuple;
  const { tasks } = await graph.getState(tuple.config);
  const finished = new Set(pendingWrites.filter(([, name]) => isOutput(name)).map(([task]) => task));
  // A call that threw is made again, whatever becomes of the run.
  const steps = store.steps.listForThread(threadId).filter(({ state }) => state !== 'failed');
  const begun = tasks.find(({ id }) => finished.has(id) || steps.some((step) => isOfExecution(step, id)));
  if (begun !== undefined)
    throw updateRefused(threadId, 'in_hand', `node "${begun.name}" has not finished and has recorded steps`);
  return leaseEpoch;
}

/** The steps of its tasks are recorded by their ids. Steps of graphs further inside are not: any of them refuses it. */
function assertBetweenInside(
  threadId: string,
  { checkpointNs, tasks, finished }: InnerGraph,
  { steps, checkpoints }: EngineStore,
): void {
  const hasRecorded = steps.listForThread(threadId).some(({ state, lgTaskId }) => {
    const [, inside, ...further] = state === 'failed' ? [] : lgTaskId.split('/');
    return inside !== undefined && (tasks.includes(inside) || further.length > 1);
  });
  const begunInside = checkpoints.namespacesWithin({ threadId, checkpointNs });
  const isDeep = begunInside.some(({ checkpointNs: each }) =>
    tasks.some((id) => each.includes(`:${id}`) && steps.listForThread(threadId).length > 0),
  );
  if (finished === null && !hasRecorded && !isDeep) return;
  const what = `a node of subgraph "${namespacePath(checkpointNs).join('|')}"`;
  throw updateRefused(threadId, 'in_hand', `${what} has not finished and has recorded steps`);
}

/** An answer is for the visit that asked, which the update takes the place of. */
function assertNothingAnswered(threadId: string, { sessions }: EngineStore): void {
  if (sessions.listClosed(threadId).every(({ status }) => status !== 'decided')) return;
  throw updateRefused(threadId, 'answer_pending', 'a decision on one of its gates is not applied yet');
}

/** What LangGraph, a reducer or an edge makes of the values is the caller's to know. */
async function stageOrRefuse(threadId: string, stage: () => Promise<StagedWrite>): Promise<StagedWrite> {
  try {
    return await stage();
  } catch (error) {
    if (isDevsError(error)) throw error;
    throw updateRefused(threadId, 'not_taken', `the graph rejects the update: ${runError(error).message}`);
  }
}

const WAYS_OUT: Readonly<Record<UpdateRefusal, string>> = {
  ended: 'Fork the run, then update the fork.',
  not_begun: 'Execute the run first, or start a new run with the right input.',
  in_hand:
    'Resume the run until the node has finished, or fork the run and update the fork, which executes the node again.',
  answer_pending: 'Resume the run first.',
  moved_on: 'Read the state again, with its subgraphs.',
  not_taken: 'Correct the values, or set asNode to the node that would return them.',
};

const updateRefused = (threadId: string, reason: UpdateRefusal, what: string): DevsError =>
  new DevsError(`The state of run "${threadId}" was not updated: ${what}.`, {
    code: 'UPDATE_REFUSED',
    remedy: WAYS_OUT[reason],
    context: { threadId, reason },
  });
