import type { GraphState, TaskStatus } from '../types.ts';

/** A task that was interrupted in the middle of its work. */
export interface StaleTaskInfo {
  readonly taskId: string;
  readonly name: string;
  readonly status: TaskStatus;
  readonly epicId: string;
}

/** Finds the tasks a run left `in_progress`; resuming or rewinding them is the caller's decision. */
export function findStaleOrDirtyStates({ tasks }: GraphState): StaleTaskInfo[] {
  return tasks
    .filter(({ status }) => status === 'in_progress')
    .map(({ taskId, name, status, epicId }) => ({ taskId, name, status, epicId }));
}
