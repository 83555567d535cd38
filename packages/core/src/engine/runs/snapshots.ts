// A run at its checkpoints: in LangGraph's form, and as JSON for a page.

import type { RunnableConfig } from '@langchain/core/runnables';
import type { Checkpoint, CheckpointListOptions } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import type { OrderedCheckpoint, TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import { showableValues as plainValues } from '../../values/showable.ts';
import { nextNodes, TRIGGER } from '../breakpoints/Breakpoint.ts';
import { readState } from '../drive/compiledGraph.ts';
import type { Engine } from '../drive/Engine.ts';
import { GUARD_NAMES } from '../execution/nodeExecution.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { storableValue as shownValue } from '../gates/question.ts';
import type { RunSnapshot } from '../graph/EngineGraph.ts';
import { configOf, optionalId } from '../saver/checkpointConfig.ts';
import { SqliteSaver } from '../saver/SqliteSaver.ts';
import { StrictSerde } from '../saver/StrictSerde.ts';
import { pageLimit } from './lists.ts';

export interface SnapshotOptions {
  /** @defaultValue where the run stands */
  readonly checkpointId?: string;
  /** With the state of the graphs inside nodes, in `tasks`. @defaultValue false */
  readonly subgraphs?: boolean;
}

/** As LangGraph's `getStateHistory` takes them; `limit` is from 1 to 1,000. @defaultValue 100 of them */
export type HistoryOptions = CheckpointListOptions;

const DEFAULT_LIMIT = 100;

export async function readSnapshot<State>(
  threadId: string,
  { checkpointId, subgraphs = false }: SnapshotOptions,
  { store, saver, graph }: Pick<Engine, 'graph' | 'saver' | 'store'>,
): Promise<RunSnapshot<State>> {
  store.threads.require(threadId);
  // LangGraph's snapshot has the values of the graph that it is of.
  const getState = (config: RunnableConfig) =>
    graph.getState(config, { subgraphs }) as Promise<RunSnapshot<State>>;
  if (checkpointId === undefined) {
    return readState({ getState }, { configurable: { thread_id: threadId } }, saver);
  }
  assertCheckpoint(threadId, checkpointId, store);
  return getState({ configurable: { thread_id: threadId, checkpoint_id: checkpointId } });
}

export async function readHistory<State>(
  threadId: string,
  { limit = DEFAULT_LIMIT, before, filter }: HistoryOptions,
  { store, graph }: Pick<Engine, 'graph' | 'store'>,
): Promise<readonly RunSnapshot<State>[]> {
  store.threads.require(threadId);
  const count = pageLimit(limit);
  if (before !== undefined) assertCheckpoint(threadId, optionalId(before, 'checkpoint_id'), store);
  const options = { limit: count, ...(before && { before }), ...(filter && { filter }) };
  const snapshots: RunSnapshot<unknown>[] = [];
  const config = { configurable: { thread_id: threadId } };
  for await (const snapshot of graph.getStateHistory(config, options)) snapshots.push(snapshot);
  return snapshots as RunSnapshot<State>[];
}

/**
 * @throws DevsError `CHECKPOINT_NOT_FOUND`
 * @throws TypeError for an id that is no text.
 */
function assertCheckpoint(threadId: string, checkpointId: string | null, { checkpoints }: EngineStore): void {
  if (typeof checkpointId !== 'string') throw new TypeError('Expected the id of a checkpoint.');
  if (checkpoints.load({ threadId, checkpointNs: '', checkpointId }) === null) {
    throw checkpointNotFound(threadId, checkpointId);
  }
}

export const checkpointNotFound = (threadId: string, checkpointId: string): DevsError =>
  new DevsError(`Run "${threadId}" has no checkpoint "${checkpointId}".`, {
    code: 'CHECKPOINT_NOT_FOUND',
    remedy: 'Use a checkpoint from getStateHistory. This one was pruned or belongs to another run.',
    context: { threadId, checkpointId },
  });

/** One checkpoint of a run, without its values. */
export interface CheckpointView {
  readonly checkpointId: string;
  /** The one before; `null` for the first, also of what was not pruned. */
  readonly parentId: string | null;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** LangGraph's number of the super-step, from -1. */
  readonly step: number;
  /** What it was written for: an `input`, a super-step of the `loop`, an `update` by a person, a `fork`. */
  readonly source: string;
  /** Names of the values that are new or others than in the one before. */
  readonly changed: readonly string[];
}

export interface CheckpointPage {
  /** At most this many, from 1 to 1,000. @defaultValue 50 */
  readonly limit?: number | undefined;
  /** Only those before this one. @defaultValue the newest */
  readonly before?: string | undefined;
}

/** The values of a run at a checkpoint, as JSON: what JSON has no word for is said in one. */
export interface CheckpointValues {
  readonly checkpointId: string;
  /** A value of more than 65,536 characters says only how long it is. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Of what has changed, as it was in the checkpoint before. */
  readonly before: Readonly<Record<string, unknown>>;
  readonly changed: readonly string[];
}

/** Newest first. */
export async function checkpointViews(
  threadId: string,
  { limit: wanted, before }: CheckpointPage,
  store: EngineStore,
): Promise<readonly CheckpointView[]> {
  const limit = pageLimit(wanted);
  if (before !== undefined) assertCheckpoint(threadId, before, store);
  const { checkpoints } = store;
  const query = { threadId, checkpointNs: '', checkpointId: null, beforeId: null };
  const beforeSeq = before === undefined ? null : checkpoints.findSeq(before, threadId);
  // One more: what has changed is told from the one before.
  const rows = checkpoints.loadPage({ ...query, beforeSeq }, limit + 1);
  const known = await Promise.all(rows.map(checkpointHead));
  const views = known.map((head): CheckpointView => {
    const parent = known.find(({ checkpointId }) => checkpointId === head.parentId);
    const { checkpointId, at, step, source } = head;
    const changed = changesBetween(parent?.versions ?? {}, head.versions);
    return { checkpointId, parentId: parent?.checkpointId ?? null, at, step, source, changed };
  });
  return views.slice(0, limit);
}

/** @throws DevsError `CHECKPOINT_NOT_FOUND` */
export async function checkpointValues(
  threadId: string,
  checkpointId: string,
  store: EngineStore,
): Promise<CheckpointValues> {
  assertCheckpoint(threadId, checkpointId, store);
  const saver = new SqliteSaver(store.db);
  const tuple = await saver.getTuple(configOf({ threadId, checkpointNs: '', checkpointId }));
  const parent = tuple?.parentConfig && (await saver.getTuple(tuple.parentConfig));
  const now = tuple?.checkpoint ?? NOTHING;
  const then = parent?.checkpoint ?? NOTHING;
  const changed = changesBetween(then.channel_versions, now.channel_versions);
  return {
    checkpointId,
    values: visibleValues(now.channel_values, Object.keys(now.channel_values).filter(isAuthors)),
    before: visibleValues(then.channel_values, changed),
    changed,
  };
}

/** What there was before the first checkpoint. */
const NOTHING: Pick<Checkpoint, 'channel_values' | 'channel_versions'> = {
  channel_values: {},
  channel_versions: {},
};

/** The nodes that the latest checkpoint of a run calls. */
export async function nextNodesOf(threadId: string, { db }: EngineStore): Promise<readonly string[]> {
  const config = { configurable: { thread_id: threadId } };
  const tuple = await new SqliteSaver(db).getTuple(config);
  return tuple === undefined ? [] : nextNodes(tuple.checkpoint).filter(isAuthors);
}

type ChannelVersions = Checkpoint['channel_versions'];

interface Head extends Omit<CheckpointView, 'changed'> {
  readonly versions: ChannelVersions;
}

async function checkpointHead(row: OrderedCheckpoint): Promise<Head> {
  const load = async <T>({ type, bytes }: TypedBytes): Promise<T> =>
    (await new StrictSerde().loadsTyped(type, bytes)) as T;
  const { ts, channel_versions: versions } = await load<Checkpoint>(row.checkpoint);
  const { step, source } = await load<Pick<Head, 'step' | 'source'>>(row.metadata);
  const { checkpointId, parentId } = row;
  return { checkpointId, parentId, at: ts, step, source, versions };
}

const changesBetween = (before: ChannelVersions, after: ChannelVersions): readonly string[] =>
  Object.keys(after).filter((name) => isAuthors(name) && after[name] !== before[name]);

/** Neither LangGraph's own, nor the guards'. */
const isAuthors = (name: string): boolean =>
  !TRIGGER.test(name) && !name.startsWith('__') && !GUARD_NAMES.some((guard) => guard === name);

function visibleValues(values: Readonly<Record<string, unknown>>, names: readonly string[]) {
  const there = names.filter((name) => Object.hasOwn(values, name));
  return plainValues(Object.fromEntries(there.map((name) => [name, shownValue(values[name])])));
}
