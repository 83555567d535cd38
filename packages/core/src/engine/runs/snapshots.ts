import type { RunnableConfig } from '@langchain/core/runnables';
import type { StateSnapshot } from '@langchain/langgraph';
import type { BaseCheckpointSaver, CheckpointListOptions } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import type { EngineStore } from '../EngineStore.ts';
import { readState } from '../readState.ts';
import { optionalId } from '../saver/checkpointConfig.ts';
import { pageLimit } from './pages.ts';

/** A run at one of its checkpoints, in LangGraph's form; without `metadata` before the first one. */
export interface RunSnapshot<State> extends Omit<StateSnapshot, 'values'> {
  readonly values: State;
}

export interface SnapshotOptions {
  /** @defaultValue where the run stands */
  readonly checkpointId?: string;
  /** With the state of the graphs inside nodes, in `tasks`. @defaultValue false */
  readonly subgraphs?: boolean;
}

/** As LangGraph's `getStateHistory` takes them; `limit` is from 1 to 1,000. @defaultValue 100 of them */
export type HistoryOptions = CheckpointListOptions;

/** The part of a compiled LangGraph graph that tells what a run was. */
export interface SnapshotGraph<State> {
  getState(config: RunnableConfig, options?: { readonly subgraphs?: boolean }): Promise<RunSnapshot<State>>;
  getStateHistory(config: RunnableConfig, options?: CheckpointListOptions): AsyncIterable<RunSnapshot<State>>;
}

export interface SnapshotDeps<State> {
  readonly store: EngineStore;
  readonly saver: BaseCheckpointSaver;
  readonly graph: SnapshotGraph<State>;
}

const DEFAULT_LIMIT = 100;

export async function readSnapshot<State>(
  threadId: string,
  { checkpointId, subgraphs = false }: SnapshotOptions,
  { store, saver, graph }: SnapshotDeps<State>,
): Promise<RunSnapshot<State>> {
  store.threads.require(threadId);
  const getState = (config: RunnableConfig): Promise<RunSnapshot<State>> =>
    graph.getState(config, { subgraphs });
  if (checkpointId === undefined) {
    return readState({ getState }, { configurable: { thread_id: threadId } }, saver);
  }
  assertCheckpoint(threadId, checkpointId, store);
  return getState({ configurable: { thread_id: threadId, checkpoint_id: checkpointId } });
}

export async function readHistory<State>(
  threadId: string,
  { limit = DEFAULT_LIMIT, before, filter }: HistoryOptions,
  { store, graph }: SnapshotDeps<State>,
): Promise<readonly RunSnapshot<State>[]> {
  store.threads.require(threadId);
  const count = pageLimit(limit);
  if (before !== undefined) assertCheckpoint(threadId, optionalId(before, 'checkpoint_id'), store);
  const options = { limit: count, ...(before && { before }), ...(filter && { filter }) };
  const snapshots: RunSnapshot<State>[] = [];
  const config = { configurable: { thread_id: threadId } };
  for await (const snapshot of graph.getStateHistory(config, options)) snapshots.push(snapshot);
  return snapshots;
}

/**
 * @throws DevsError `CHECKPOINT_NOT_FOUND`
 * @throws TypeError for an id that is no text.
 */
export function assertCheckpoint(
  threadId: string,
  checkpointId: string | null,
  { checkpoints }: EngineStore,
): void {
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
