import { abandonTask, dependentsOf } from '../../orchestration/taskStates.ts';
import type { GraphState, TaskRecord } from '../../orchestration/types.ts';

/** A plan with some of its tasks undone. */
export interface EarlierPlan {
  readonly tasks: readonly TaskRecord[];
  /** The tasks that were undone, as they were, in the order of the plan. */
  readonly undone: readonly TaskRecord[];
}

/**
 * The plan at the end of `target`: what was begun of the tasks that depend on it, and the task that is under way, is
 * pending again. Finished tasks that do not depend on it stay. A target that is not completed is undone itself. Pure.
 *
 * A task under way that a human had sent back, and that does not depend on `target`, is as it was sent back: what it had
 * committed before stays, for others may stand on it.
 */
export function withoutLaterWork(
  state: Pick<GraphState, 'tasks' | 'activeTaskId'>,
  target: TaskRecord,
): EarlierPlan {
  const later = dependentsOf(state.tasks, target.taskId);
  const isAnew = (task: TaskRecord): boolean =>
    later.has(task.taskId) || (task.taskId === target.taskId && task.status !== 'completed');
  const reset = state.tasks.map((task): TaskRecord => {
    if (isAnew(task)) return asPlanned(task);
    return isUnderWay(task, state.activeTaskId) ? { ...task, status: 'pending' } : task;
  });
  // A task that was given up and stays so goes on blocking what depends on it.
  const tasks = reset.reduce<readonly TaskRecord[]>(
    (all, { taskId, status }) =>
      status === 'failed' || status === 'skipped' ? abandonTask(all, taskId, status) : all,
    reset,
  );
  const undone = state.tasks.filter((task, at) => isChanged(task, tasks[at]));
  return { tasks, undone };
}

/** Begun and not ended; a failed task that is still the active one is being retried. */
function isUnderWay({ taskId, status }: TaskRecord, activeTaskId: string | null): boolean {
  if (status === 'in_progress' || status === 'resumed') return true;
  return taskId === activeTaskId && status === 'failed';
}

function asPlanned({
  gitHash: _hash,
  evidence: _evidence,
  attempts: _attempts,
  ...task
}: TaskRecord): TaskRecord {
  return { ...task, status: 'pending' };
}

/** A task that was sent back is pending before and after, and loses what it had committed. */
function isChanged(before: TaskRecord, after: TaskRecord | undefined): boolean {
  return before.status !== after?.status || before.gitHash !== after.gitHash;
}
