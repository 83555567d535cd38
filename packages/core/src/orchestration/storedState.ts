import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { recordedShape } from '../engine/graph/graphShape.ts';
import { storedValues } from '../engine/saver/storedValues.ts';
import type { Thread } from '../state/threads/threadRecords.ts';
import { emptyState } from './emptyState.ts';
import type { GraphState } from './types.ts';

/**
 * The state of a run at its latest checkpoint, as its graph tells it, without the graph. `null` before the first checkpoint;
 * `undefined` where only the graph can tell; see {@link storedValues}.
 */
export function storedState(
  threadId: string,
  store: Pick<EngineStore, 'db' | 'checkpoints'>,
): GraphState | null | undefined {
  const values = storedValues(threadId, store);
  if (values === null || values === undefined) return values;
  const empty = emptyState();
  const names = ['projectConfig', ...Object.keys(empty)];
  const written = names.flatMap((name) => (values.has(name) ? [[name, values.get(name)] as const] : []));
  const { projectConfig, ...rest } = Object.fromEntries(written) as unknown as GraphState;
  return { ...(projectConfig && { projectConfig }), ...empty, ...rest } as GraphState;
}

/** Channels that the pipeline has had in every release. */
const CHANNELS = ['projectConfig', 'hitlDecisions', 'tasks', 'epics'];

/** Whether a run is one of the pipeline: a graph of one's own may have channels of the same names that hold something else. */
export function isPipelineRun(thread: Pick<Thread, 'policies'>): boolean {
  const shape = recordedShape(thread);
  return shape === null || CHANNELS.every((name) => shape.channels.includes(name));
}

/**
 * A state whose tasks name the commits that are on the branch now. A checkpoint holds the ids of its time; a sync
 * commits the same work anew and records what became of them.
 */
export function withCurrentCommits(
  state: GraphState | null,
  threadId: string,
  store: EngineStore,
): GraphState | null {
  if (state === null || !state.tasks.some(({ gitHash }) => gitHash !== undefined)) return state;
  const syncs = store.log.listNamed(threadId, 'RUN_SYNCED');
  if (syncs.length === 0) return state;
  const current = (commit: string): string =>
    syncs.reduce((at, { payload: { moved = {} } }) => moved[at] ?? at, commit);
  const tasks = state.tasks.map((task) =>
    task.gitHash === undefined ? task : { ...task, gitHash: current(task.gitHash) },
  );
  return { ...state, tasks };
}
