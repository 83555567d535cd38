import type { RunnableConfig } from '@langchain/core/runnables';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import type { Thread } from '../../state/threads/threadRecords.ts';
import type { Engine } from '../drive/Engine.ts';
import { assertIsRun } from '../drive/runInput.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { asHuman, type Principal, principalText } from '../gates/principals.ts';
import { assertSameGraph } from '../graph/graphShape.ts';
import { configOf } from '../saver/checkpointConfig.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import { newRunIdOf } from './runId.ts';
import { checkpointNotFound } from './snapshots.ts';

/** A new run that begins where another one stood. */
export interface ForkOptions {
  /** Id of the new run. */
  readonly as: string;
  /** Where it begins: one of `getStateHistory`. @defaultValue the newest */
  readonly checkpointId?: string;
  readonly by: Principal;
}

export interface ForkResult {
  readonly id: string;
  /** Where it begins, in both runs. */
  readonly checkpointId: string;
}

/**
 * Begins a run at a checkpoint of another, which is only read: it may be driven meanwhile. The new one has the
 * declarations, the context and the input of the old one, and nothing else of it: what lies before the checkpoint is in
 * the state, and what follows is done by visits of its own, whatever the old run has recorded of them.
 */
export async function forkRun(
  threadId: string,
  { as, checkpointId, by }: ForkOptions,
  { store, saver, shape }: Pick<Engine, 'saver' | 'shape' | 'store'>,
): Promise<ForkResult> {
  const human = asHuman(by, threadId, 'fork');
  const id = newRunIdOf(as);
  const thread = store.threads.require(threadId);
  assertSameGraph(thread, shape);
  assertWithoutFolder(thread);
  assertFree(id, store);
  const { root, tuples, seq } = await checkpointsAt(threadId, checkpointId, { store, saver });
  const saves = await Promise.all(tuples.map((tuple) => stageCopy(id, tuple, saver)));
  const from = root.checkpoint.id;
  const { workspace, briefSha256, graphFingerprint, policies, keepsExactly } = thread;
  const declared = { workspace, briefSha256, graphFingerprint, policies, keepsExactly };
  store.commit((emit) => {
    store.threads.require(threadId);
    assertFree(id, store);
    store.threads.create({ ...declared, threadId: id, projectId: id });
    store.inputs.copy(threadId, id, seq);
    store.labels.inherit(threadId, id);
    for (const save of saves) save();
    emit(
      'RUN_FORKED',
      { from: threadId, checkpointId: from, principal: principalText(human) },
      { threadId: id },
    );
  });
  return { id, checkpointId: from };
}

/** Where a fork begins. */
interface ForkStart {
  readonly root: CheckpointTuple;
  /** With those of graphs inside nodes. */
  readonly tuples: readonly CheckpointTuple[];
  /** Where the checkpoint stands in the order of the file. */
  readonly seq: number;
}

/** The checkpoint, and those of the graphs inside nodes that keep their state from visit to visit, as of then. */
async function checkpointsAt(
  threadId: string,
  checkpointId: string | undefined,
  { store, saver }: Pick<Engine, 'saver' | 'store'>,
): Promise<ForkStart> {
  const at = {
    thread_id: threadId,
    checkpoint_ns: '',
    ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
  };
  const root = await saver.getTuple({ configurable: at });
  if (root === undefined) throw checkpointNotFound(threadId, checkpointId ?? 'latest');
  const seq = store.checkpoints.findSeq(root.checkpoint.id, threadId) ?? 0;
  const lasting = store.checkpoints.lastingBefore(threadId, seq).map((key) => saver.getTuple(configOf(key)));
  const inside = await Promise.all(lasting);
  return { root, tuples: [root, ...inside.filter((tuple) => tuple !== undefined)], seq };
}

/** Every channel at its version: values are shared by what they are, so that a copy takes little. */
function stageCopy(
  threadId: string,
  { config, checkpoint, metadata }: CheckpointTuple,
  saver: SqliteSaver,
): Promise<() => void> {
  const checkpoint_ns: unknown = config.configurable?.['checkpoint_ns'];
  const on: RunnableConfig = { configurable: { thread_id: threadId, checkpoint_ns } };
  const copied = { step: -1, parents: {}, ...metadata, source: 'fork' as const };
  const newVersions = checkpoint.channel_versions;
  return saver.stage(on, { checkpoint, metadata: copied, newVersions, writes: [] });
}

function assertFree(threadId: string, store: EngineStore): void {
  if (store.threads.get(threadId) !== null) throw threadExists(threadId);
  assertIsRun(threadId, store);
}

export const threadExists = (threadId: string): DevsError =>
  new DevsError(`Run "${threadId}" already exists.`, {
    code: 'THREAD_EXISTS',
    remedy: 'Use another id for the new run, or resume the existing run.',
    context: { threadId },
  });

function assertWithoutFolder({ threadId, workspace }: Thread): void {
  if (workspace === null) return;
  throw new DevsError(`Run "${threadId}" has a working folder, which two runs cannot share.`, {
    code: 'WORKSPACE_BUSY',
    remedy: 'Rewind the run with devs rewind, or start a new run.',
    context: { threadId },
  });
}
