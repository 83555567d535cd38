import { taskLabel } from '../orchestration/taskStates.ts';
import type { Rewind } from '../state/RewindStore.ts';
import type { RewindView } from './views.ts';

/** Rewinds as people are told of them: one that was taken back says so, and is one line. */
export function rewindViews(rewinds: readonly Rewind[]): readonly RewindView[] {
  return rewinds
    .filter(({ before }) => before.takesBack === null)
    .map(({ id, targetTaskId, undone, before, state, createdAt }) => ({
      id,
      target: taskLabel(targetTaskId),
      undone: undone.map(({ taskId }) => taskLabel(taskId)),
      principal: before.principal,
      reason: before.reason,
      at: new Date(createdAt).toISOString(),
      state: state === 'intent' ? 'unfinished' : state,
    }));
}
