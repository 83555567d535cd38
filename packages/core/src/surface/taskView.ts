import { taskLabel } from '../orchestration/taskStates.ts';
import type { TaskRecord } from '../orchestration/types.ts';
import type { TaskView } from './views.ts';

export function taskView({ taskId, name, status, gitHash }: TaskRecord): TaskView {
  return { taskId, label: taskLabel(taskId), name, status, gitHash: gitHash ?? null };
}
