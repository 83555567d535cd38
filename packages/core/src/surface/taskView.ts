import { taskNumber } from '../orchestration/nodes/plan.ts';
import type { TaskRecord } from '../orchestration/types.ts';
import type { TaskView } from './views.ts';

/** `T3` for the third task of a run. */
export const taskLabel = (taskId: string): string => `T${taskNumber(taskId)}`;

export function taskView({ taskId, name, status, gitHash }: TaskRecord): TaskView {
  return { taskId, label: taskLabel(taskId), name, status, gitHash: gitHash ?? null };
}
