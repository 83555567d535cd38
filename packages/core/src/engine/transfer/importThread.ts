// Imports a thread of another checkpointer as a run, with the gates of its open interrupts, in one transaction.

import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { whenFree } from '../../db/busy.ts';
import type { DevsError } from '../../errors/DevsError.ts';
import type { EventSink } from '../../events/events.ts';
import { hashBytes } from '../../state/blobs/BlobStore.ts';
import type { InterruptedQuestion } from '../../state/gates/HitlSessionStore.ts';
import { labelsOf } from '../../state/labels/RunLabelStore.ts';
import type { ThreadStatus } from '../../state/threads/threadRecords.ts';
import { readState } from '../drive/compiledGraph.ts';
import { breakpointQuestion, openGateSession, readAnswers } from '../drive/driverGates.ts';
import type { Engine } from '../drive/Engine.ts';
import { threadBusy } from '../drive/lease.ts';
import { assertContext, assertInvokeOptions, assertIsRun, dumpGiven } from '../drive/runInput.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import { deadlinePolicies, gatePolicies } from '../gates/gatePolicies.ts';
import { asHuman, type Principal, principalText } from '../gates/principals.ts';
import type { EngineGraph, InvokeOptions, RunSnapshot } from '../graph/EngineGraph.ts';
import { graphFingerprint, recordedAs } from '../graph/graphShape.ts';
import { threadExists } from '../runs/forkRun.ts';
import type { QueueOptions } from '../runs/Runs.ts';
import { requiredId } from '../saver/checkpointConfig.ts';
import { openQuestions, type PendingQuestion } from '../saver/openQuestions.ts';
import { waitReason, waitSuspension } from '../waits/waits.ts';
import { whyNotTaken } from './assertTakesThread.ts';
import { NotNormal, normalThread, taskWrites, withDistinctVersions } from './normalThread.ts';
import {
  configAt,
  keepsDeltas,
  namespaceIn,
  newestOf,
  readStoredThread,
  type StoredThread,
} from './StoredThread.ts';
import { type TransferRefusal, transferRefused } from './transferRefused.ts';

/** A thread that becomes a run. `context`, `configurable`, `tags` and `metadata` are recorded as `start` records them. */
export interface ImportOptions extends InvokeOptions, QueueOptions {
  /** The checkpointer that has the thread. It is only read. */
  readonly saver: BaseCheckpointSaver;
  /** The importing person. Recorded. */
  readonly by: Principal;
  /** All checkpoints. @defaultValue false: the newest of each graph */
  readonly history?: boolean;
  /** Checks the thread without a write. @defaultValue false */
  readonly dryRun?: boolean;
}

/** Result of an import. */
export interface ImportedThread {
  readonly id: string;
  /** `importable`: with `dryRun`. `unchanged`: it was imported before, and neither side has gone on since. */
  readonly result: 'imported' | 'importable' | 'unchanged';
  /** Of the run: it waits at gates or has ended; or it is paused, and `run` goes on with it. */
  readonly status: ThreadStatus;
  /** Its open gates. */
  readonly gates: number;
  /** Checkpoints that came. */
  readonly checkpoints: number;
}

export type ImportingEngine = Pick<
  Engine,
  | 'breakpoints'
  | 'budget'
  | 'endOf'
  | 'gates'
  | 'graph'
  | 'graphChanges'
  | 'recordedAs'
  | 'saver'
  | 'shape'
  | 'store'
>;

/** A thread that the graph takes. */
interface TakenThread {
  readonly id: string;
  readonly thread: StoredThread;
  readonly status: ThreadStatus;
  readonly reason: string | null;
  readonly questions: readonly PendingQuestion[];
  /** The breakpoint that it stands at. */
  readonly stop: InterruptedQuestion | null;
  /** SHA-256 of its position; a later import compares it. */
  readonly sha256: string;
}

/** The earlier import of a thread, or `null`. @throws DevsError as {@link knownImport} */
export type KnownThread = (taken: Pick<TakenThread, 'id' | 'sha256'>) => Promise<ImportedThread | null>;

/**
 * Imports a thread into a state file.
 *
 * @param known - Called before the first write.
 * @throws DevsError `THREAD_NOT_FOUND`, `TRANSFER_REFUSED`, `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE`, `INVALID_INPUT`; errors
 *   of `known`.
 */
export async function importThread(
  threadId: string,
  options: ImportOptions,
  engine: ImportingEngine,
  known: KnownThread,
): Promise<ImportedThread> {
  const human = asHuman(options.by, threadId, 'import');
  const id = requiredId({ configurable: { thread_id: threadId } }, 'thread_id');
  assertSource(options.saver);
  const given = givenOf(options);
  assertInvokeOptions(given, id);
  await assertContext(engine.graph, given, id);
  const taken = await outsideGraphs(() => readTaken(id, options, engine));
  const saves = await stageThread(id, taken.thread, engine);
  const input = await dumpGiven({ input: null, options: given }, id, engine.saver);
  const before = await known(taken);
  if (before !== null) return before;
  const told = { id, status: taken.status, checkpoints: saves.length };
  if (options.dryRun === true)
    return { ...told, result: 'importable', gates: taken.questions.length + (taken.stop === null ? 0 : 1) };
  const { store } = engine;
  const record = (emit: EventSink['emit']): ImportedThread => {
    assertIsRun(id, store);
    if (store.threads.get(id) !== null) throw threadExists(id);
    store.threads.create(declaredRun(id, human, engine));
    store.inputs.insert(id, input);
    store.labels.insert(id, labelsOf(given));
    for (const save of saves) save();
    const gates = settle(taken, engine);
    const imported = {
      principal: principalText(human),
      checkpointId: taken.thread.root.checkpoint.id,
      checkpoints: saves.length,
      sha256: taken.sha256,
      footprint: store.footprint.of(id),
    };
    emit('RUN_IMPORTED', imported, { threadId: id });
    return { ...told, result: 'imported', gates };
  };
  return whenFree(store.db, () => store.commit(record));
}

/** @throws TypeError */
function assertSource(saver: unknown): void {
  const { getTuple, list } = Object(saver) as Partial<BaseCheckpointSaver>;
  if (typeof getTuple !== 'function' || typeof list !== 'function')
    throw new TypeError('saver: expected a checkpointer of LangGraph.');
}

const INVOKE_NAMES = ['context', 'configurable', 'tags', 'metadata'] as const;

const givenOf = (options: ImportOptions): InvokeOptions =>
  Object.fromEntries(
    INVOKE_NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );

function declaredRun(threadId: string, by: Principal, engine: ImportingEngine) {
  const { gates, shape, budget } = engine;
  return {
    ...{ threadId, projectId: threadId, workspace: null, briefSha256: null },
    graphFingerprint: graphFingerprint(shape),
    policies: {
      ...gatePolicies(gates, by, threadId),
      ...deadlinePolicies(gates),
      ...(Object.keys(budget).length > 0 && { budget }),
      graph: shape,
      ...recordedAs(engine.recordedAs),
    },
  };
}

async function readTaken(
  id: string,
  { saver: source, history = false }: ImportOptions,
  engine: ImportingEngine,
): Promise<TakenThread> {
  const refuse = (reason: TransferRefusal, why: string, cause?: unknown) =>
    transferRefused({ deed: 'imported', threadId: id, reason, why, cause });
  const root = await newestOf(source, id);
  const state = await stateIn(source, id, engine.graph).catch((error: unknown) => {
    throw refuse('graph_throws', 'its graph throws where its state is read', error);
  });
  const taskIds = new Set(state.tasks.map((task) => task.id));
  const isWhole = history || keepsDeltas(root, engine.graph);
  const thread = normalThread(await readStoredThread(source, root, { history: isWhole, taskIds }));
  if (thread instanceof NotNormal) throw refuse(thread.reason, thread.why);
  const again = await newestOf(source, id);
  if (again.checkpoint.id !== root.checkpoint.id || writesIn(again) !== writesIn(root))
    throw refuse('in_use', 'it changed while it was read');
  const why = whyNotTaken(thread, state, engine);
  if (why !== null) throw refuse(why.reason, why.why);
  const { parentConfig } = root;
  const parent = parentConfig === undefined ? undefined : await source.getTuple(parentConfig);
  const sha256 = await digestOf(thread, engine);
  return { id, thread, sha256, ...standingOf(id, { thread, state, parent }, engine) };
}

/** The position of the run. */
function standingOf(
  threadId: string,
  {
    thread: { root },
    state: { tasks, values },
    parent,
  }: {
    readonly thread: StoredThread;
    readonly state: RunSnapshot<unknown>;
    readonly parent: CheckpointTuple | undefined;
  },
  { endOf, breakpoints }: ImportingEngine,
): Pick<TakenThread, 'status' | 'reason' | 'questions' | 'stop'> {
  if (tasks.length === 0) return { ...endOf(values), questions: [], stop: null };
  const questions = openQuestions(root);
  const hasBegun = (root.pendingWrites ?? []).length > 0;
  const stop = hasBegun
    ? null
    : breakpointQuestion({ threadId, tuple: root, parent, tasks, values }, breakpoints);
  const gates = questions.length + (stop === null ? 0 : 1);
  if (gates === 0) return { status: 'paused', reason: 'imported', questions, stop };
  return { status: 'waiting', reason: waitReason(gates, {}), questions, stop };
}

/** As LangGraph reads it with this graph. */
function stateIn(
  source: BaseCheckpointSaver,
  threadId: string,
  graph: EngineGraph,
): Promise<RunSnapshot<unknown>> {
  const configurable = {
    ...configAt(threadId, '').configurable,
    thread_id: threadId,
    __pregel_checkpointer: source,
  };
  const read = {
    getState: (config: { configurable: object }) => graph.getState(config, { subgraphs: true }),
  };
  return readState(read, { configurable }, source);
}

const writesIn = ({ pendingWrites = [] }: CheckpointTuple): string =>
  JSON.stringify(pendingWrites.map(([taskId, channel]) => [taskId, channel]));

async function stageThread(
  threadId: string,
  { tuples }: StoredThread,
  { saver }: Pick<Engine, 'saver'>,
): Promise<readonly (() => void)[]> {
  const versioned = await withDistinctVersions(tuples, saver);
  const saves: (() => void)[] = [];
  for (const { tuple, newVersions } of versioned) {
    const parentId = tuple.parentConfig?.configurable?.['checkpoint_id'] as string | undefined;
    const on = configAt(threadId, namespaceIn(tuple), parentId);
    const metadata = tuple.metadata ?? { source: 'loop', step: -1, parents: {} };
    saves.push(
      await saver.stage(on, {
        checkpoint: tuple.checkpoint,
        metadata,
        newVersions,
        writes: taskWrites(tuple),
      }),
    );
  }
  return saves;
}

/** SHA-256 of the newest checkpoints and their writes. */
async function digestOf(
  { root, tuples }: StoredThread,
  { saver: { serde } }: Pick<Engine, 'saver'>,
): Promise<string> {
  const standing = new Map(tuples.map((tuple) => [namespaceIn(tuple), tuple]));
  const parts: unknown[] = [root.checkpoint.id];
  for (const [ns, { checkpoint, pendingWrites = [] }] of standing) {
    const writes = pendingWrites.filter(([, channel]) => channel !== '__error__');
    const dumped = await Promise.all(writes.map(([, , value]) => serde.dumpsTyped(value)));
    parts.push([
      ns,
      checkpoint.id,
      writes.map(([taskId, channel], at) => [taskId, channel, sha256Of(dumped[at]?.[1])]),
    ]);
  }
  return sha256Of(Buffer.from(JSON.stringify(parts)));
}

const sha256Of = (bytes: Uint8Array = new Uint8Array()): string =>
  Buffer.from(hashBytes(bytes)).toString('hex');

/** Opens the gates in the caller's transaction. Returns their number. */
function settle({ id, status, reason, questions, stop }: TakenThread, { store }: ImportingEngine): number {
  const claim = store.runs.claim(id);
  if (claim.kind === 'busy') throw threadBusy(id, claim.owner, claim.epoch);
  const { lease } = claim;
  const gates = readAnswers(questions, lease, store).unanswered.length + (stop === null ? 0 : 1);
  if (stop !== null) openGateSession(stop, lease, store.runs);
  const scope = { threadId: id };
  const suspended = { name: 'RUN_SUSPENDED', payload: waitSuspension(gates, {}), scope } as const;
  const facts = status === 'waiting' ? [suspended] : [];
  store.runs.settle(lease, { status, reason, seenWakeSeq: store.threads.require(id).wakeSeq, facts });
  return gates;
}

/**
 * Compares a thread with its run.
 *
 * @throws DevsError `THREAD_EXISTS` for a run that was not imported; `TRANSFER_REFUSED`.
 */
export function knownImport(
  { id, sha256 }: Pick<TakenThread, 'id' | 'sha256'>,
  { store }: Pick<Engine, 'store'>,
): ImportedThread | null {
  const run = store.threads.get(id);
  if (run === null) return null;
  const imported = store.log.listNamed(id, 'RUN_IMPORTED').at(-1)?.payload;
  if (imported === undefined) throw threadExists(id);
  const refuse = (reason: TransferRefusal, why: string): DevsError =>
    transferRefused({ deed: 'imported', threadId: id, reason, why });
  if (imported.sha256 !== sha256)
    throw refuse('moved_on_there', 'it was imported before, and has gone on in the other store since');
  if (imported.footprint !== store.footprint.of(id))
    throw refuse('moved_on_here', 'it was imported before, and the run has gone on here since');
  const gates = store.sessions.listOpen(id).length;
  return { id, result: 'unchanged', status: run.status, gates, checkpoints: imported.checkpoints };
}
