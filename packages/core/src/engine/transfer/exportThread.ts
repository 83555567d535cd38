// Copies a run into another checkpointer.

import type {
  BaseCheckpointSaver,
  CheckpointMetadata,
  CheckpointTuple,
} from '@langchain/langgraph-checkpoint';
import type { DevsError } from '../../errors/DevsError.ts';
import type { ThreadStatus } from '../../state/threads/threadRecords.ts';
import { isRecord } from '../../values/isRecord.ts';
import { readState } from '../drive/compiledGraph.ts';
import type { Engine } from '../drive/Engine.ts';
import { threadBusy } from '../drive/lease.ts';
import { isFrameQuestion } from '../gates/question.ts';
import { openQuestions } from '../saver/openQuestions.ts';
import { taskWrites, withDistinctVersions } from './normalThread.ts';
import { configAt, keepsDeltas, namespaceIn, readStoredThread, type StoredThread } from './StoredThread.ts';
import { type TransferRefusal, transferRefused } from './transferRefused.ts';

/** Options of `exportThread`. */
export interface ExportOptions {
  /** The checkpointer that gets the thread. */
  readonly saver: BaseCheckpointSaver;
  /** All checkpoints. @defaultValue false: the newest of each graph */
  readonly history?: boolean;
  /** Checks the run without a write. @defaultValue false */
  readonly dryRun?: boolean;
}

/** Result of an export. */
export interface ExportedThread {
  readonly id: string;
  /** `exportable`: with `dryRun`. `unchanged`: the checkpointer has it as it is. */
  readonly result: 'exported' | 'exportable' | 'unchanged';
  /** Of the run, which stays here as it is. */
  readonly status: ThreadStatus;
  /** Where the thread stands. */
  readonly checkpointId: string;
  readonly checkpoints: number;
  /** Plain LangGraph continues with `new Command({ resume: { [id]: answer } })`. */
  readonly interrupts: readonly { readonly id: string; readonly value: unknown }[];
}

type ExportingEngine = Pick<Engine, 'graph' | 'saver' | 'store'>;

/**
 * Writes the newest checkpoint of the run's own graph last: after a crash the next call completes the thread.
 *
 * @throws DevsError `THREAD_NOT_FOUND`, `THREAD_BUSY`, `TRANSFER_REFUSED` before the first write.
 */
export async function exportThread(
  threadId: string,
  { saver: target, history = false, dryRun = false }: ExportOptions,
  engine: ExportingEngine,
): Promise<ExportedThread> {
  const { store, saver, graph } = engine;
  const { status, leaseEpoch } = store.threads.require(threadId);
  const driver = store.threads.driverOf(threadId);
  if (driver !== null) throw threadBusy(threadId, driver, leaseEpoch);
  const config = { configurable: { thread_id: threadId } };
  const root = await saver.getTuple(config);
  if (root === undefined || isInputDue(threadId, engine))
    throw refused(threadId, 'not_begun', 'its input is not in a checkpoint yet');
  assertPlain(threadId, root, engine);
  const { tasks } = await readState(graph, config, saver);
  const taskIds = new Set(tasks.map(({ id }) => id));
  const isWhole = history || keepsDeltas(root, graph);
  const thread = await readStoredThread(saver, root, { history: isWhole, taskIds });
  const interrupts = openQuestions(root).map(({ interruptId: id, value }) => ({ id, value }));
  const about = {
    id: threadId,
    status,
    checkpointId: root.checkpoint.id,
    checkpoints: thread.tuples.length,
    interrupts,
  };
  const isThere = await isKnownThere(threadId, root, { target, saver });
  if (isThere && !isWhole) return { ...about, result: 'unchanged' };
  if (dryRun) return { ...about, result: 'exportable' };
  await writeThread(threadId, thread, target, saver);
  return { ...about, result: 'exported' };
}

const refused = (threadId: string, reason: TransferRefusal, why: string): DevsError =>
  transferRefused({ deed: 'exported', threadId, reason, why });

function isInputDue(threadId: string, { store: { inputs } }: ExportingEngine): boolean {
  const latest = inputs.latest(threadId);
  return latest !== null && latest.turn > 1 && !latest.isTaken;
}

/** Plain LangGraph cannot end the waits of this engine. */
function assertPlain(threadId: string, root: CheckpointTuple, { store }: ExportingEngine): void {
  const { sessions, waits } = store;
  if (sessions.listClosed(threadId).some(({ status }) => status === 'decided'))
    throw refused(threadId, 'answer_pending', 'a decision on one of its gates is not applied yet');
  const gate = sessions.listOpen(threadId).find(({ kind }) => kind !== 'interrupt');
  if (gate !== undefined)
    throw refused(threadId, 'waits_for_engine', `it waits at a gate that only this app asks (${gate.kind})`);
  const open = openQuestions(root);
  const ids = open.map(({ interruptId }) => interruptId);
  const isWaiting = ids.length > 0 && waits.at(threadId, ids).length > 0;
  if (isWaiting || open.some(({ value }) => isFrameQuestion(value)))
    throw refused(threadId, 'waits_for_engine', 'it waits for a timer, a signal or a child run');
  const answers = (root.pendingWrites ?? []).filter(([, channel]) => channel === '__resume__');
  if (answers.flatMap(([, , given]) => given as unknown).some(isDelivered))
    throw refused(threadId, 'waits_for_engine', 'its node has begun with the answer to a gate of this app');
}

const isDelivered = (answer: unknown): boolean =>
  isRecord(answer) && 'for' in answer && 'sessionId' in answer;

/**
 * Whether the other checkpointer has the thread as it is here.
 *
 * @throws DevsError `TRANSFER_REFUSED` where it has another thread of that id, or has gone on with this one.
 */
async function isKnownThere(
  threadId: string,
  root: CheckpointTuple,
  { target, saver }: { readonly target: BaseCheckpointSaver; readonly saver: BaseCheckpointSaver },
): Promise<boolean> {
  const there = await target.getTuple(configAt(threadId, ''));
  if (there === undefined) return false;
  const here = await saver.getTuple(configAt(threadId, '', there.checkpoint.id));
  const known = new Set(writesIn(here));
  if (here === undefined || writesIn(there).some((write) => !known.has(write)))
    throw refused(
      threadId,
      'moved_on_there',
      'the other store has another thread of this id, or has gone on with it',
    );
  return there.checkpoint.id === root.checkpoint.id && writesIn(there).length === known.size;
}

const writesIn = (tuple: CheckpointTuple | undefined): readonly string[] =>
  (tuple?.pendingWrites ?? []).map(([taskId, channel]) => JSON.stringify([taskId, channel]));

async function writeThread(
  threadId: string,
  { root, tuples }: StoredThread,
  target: BaseCheckpointSaver,
  saver: ExportingEngine['saver'],
): Promise<void> {
  const isRoot = (tuple: CheckpointTuple): boolean =>
    namespaceIn(tuple) === '' && tuple.checkpoint.id === root.checkpoint.id;
  const versioned = await withDistinctVersions(tuples, saver);
  const lastly = versioned.filter(({ tuple }) => isRoot(tuple));
  for (const { tuple, newVersions } of [...versioned.filter(({ tuple: each }) => !isRoot(each)), ...lastly]) {
    const { checkpoint, metadata, parentConfig } = tuple;
    const ns = namespaceIn(tuple);
    const on = configAt(threadId, ns, checkpoint.id);
    for (const { taskId, taskPath, values } of taskWrites(tuple))
      await target.putWrites(on, values, taskId, taskPath);
    const parentId = parentConfig?.configurable?.['checkpoint_id'] as string | undefined;
    await target.put(configAt(threadId, ns, parentId), checkpoint, ownMetadata(metadata), newVersions);
  }
}

/** Without the engine's lease. */
function ownMetadata(
  metadata: CheckpointMetadata = { source: 'loop', step: -1, parents: {} },
): CheckpointMetadata {
  const own = Object.entries(metadata).filter(([name]) => !name.startsWith('lease'));
  return Object.fromEntries(own) as unknown as CheckpointMetadata;
}
