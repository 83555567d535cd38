import type { EngineStore } from '../engine/EngineStore.ts';
import type { GraphState } from '../orchestration/types.ts';

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
