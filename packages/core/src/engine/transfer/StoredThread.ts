// A thread as a checkpointer has it: its newest checkpoint in each namespace, or all of them.

import type { RunnableConfig } from '@langchain/core/runnables';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import { namespaceOf } from '../saver/checkpointConfig.ts';

/** A checkpointer, to read. */
export type ThreadSource = Pick<BaseCheckpointSaver, 'getTuple' | 'list'>;

export interface StoredThread {
  /** The newest checkpoint of the thread's own graph. */
  readonly root: CheckpointTuple;
  /** With those of the graphs inside nodes; oldest first. */
  readonly tuples: readonly CheckpointTuple[];
}

interface ReadOptions {
  /** Every checkpoint. @defaultValue the newest of each namespace that the thread stands in */
  readonly history: boolean;
  /** LangGraph's ids of the tasks that the thread stands at. */
  readonly taskIds: ReadonlySet<string>;
}

/** Reads a thread. The parent of a checkpoint without writes comes too: a breakpoint needs it. */
export async function readStoredThread(
  source: ThreadSource,
  root: CheckpointTuple,
  { history, taskIds }: ReadOptions,
): Promise<StoredThread> {
  const threadId = String(root.config.configurable?.['thread_id']);
  const keys = await keysOf(source, threadId);
  if (history) return { root, tuples: await tuplesAt(source, threadId, keys) };
  const namespaces = [...new Set(keys.map(({ ns }) => ns))].filter((ns) => ns === '' || isLive(ns, taskIds));
  const newest = await Promise.all(namespaces.map((ns) => source.getTuple(configAt(threadId, ns))));
  const standing = newest.filter((tuple) => tuple !== undefined);
  const before = await Promise.all(
    standing.map(async ({ pendingWrites = [], parentConfig }) =>
      pendingWrites.length > 0 || parentConfig === undefined ? undefined : source.getTuple(parentConfig),
    ),
  );
  return { root, tuples: inOrder([...standing, ...before.filter((tuple) => tuple !== undefined)]) };
}

/** @throws DevsError `THREAD_NOT_FOUND` */
export async function newestOf(source: ThreadSource, threadId: string): Promise<CheckpointTuple> {
  const root = await source.getTuple(configAt(threadId, ''));
  if (root !== undefined) return root;
  throw new DevsError(`The checkpointer has no thread "${threadId}".`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'Check the id, and that the checkpointer reads the right store.',
    context: { threadId },
  });
}

export const configAt = (threadId: string, ns: string, checkpointId?: string): RunnableConfig => ({
  configurable: {
    thread_id: threadId,
    checkpoint_ns: ns,
    ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
  },
});

export const namespaceIn = ({ config }: CheckpointTuple): string => namespaceOf(config) ?? '';

/** The graph of a namespace without a task's id keeps its state from visit to visit. */
function isLive(ns: string, taskIds: ReadonlySet<string>): boolean {
  const [first = ''] = ns.split('|');
  const colon = first.lastIndexOf(':');
  return colon < 0 || taskIds.has(first.slice(colon + 1));
}

interface Key {
  readonly ns: string;
  readonly id: string;
}

async function keysOf(source: ThreadSource, threadId: string): Promise<readonly Key[]> {
  const keys: Key[] = [];
  for await (const tuple of source.list({ configurable: { thread_id: threadId } })) {
    if (String(tuple.config.configurable?.['thread_id']) !== threadId) continue;
    keys.push({ ns: namespaceIn(tuple), id: tuple.checkpoint.id });
  }
  return keys;
}

async function tuplesAt(
  source: ThreadSource,
  threadId: string,
  keys: readonly Key[],
): Promise<readonly CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  for (const { ns, id } of keys) {
    const tuple = await source.getTuple(configAt(threadId, ns, id));
    if (tuple !== undefined) tuples.push(tuple);
  }
  return inOrder(tuples);
}

/** LangGraph's ids are in the order of time. */
const inOrder = (tuples: readonly CheckpointTuple[]): readonly CheckpointTuple[] =>
  tuples.toSorted(
    (a, b) => Number(a.checkpoint.id > b.checkpoint.id) - Number(a.checkpoint.id < b.checkpoint.id),
  );

/** Whether values are in the writes of earlier checkpoints: LangGraph's `DeltaChannel`. */
export function keepsDeltas(
  { metadata }: CheckpointTuple,
  { channels }: { readonly channels: Readonly<Record<string, unknown>> },
): boolean {
  const isDelta = (channel: unknown): boolean =>
    (channel as { readonly lc_graph_name?: unknown }).lc_graph_name === 'DeltaChannel';
  return (
    Object.values(channels).some(isDelta) || Object.keys(metadata ?? {}).some((name) => /delta/.test(name))
  );
}
