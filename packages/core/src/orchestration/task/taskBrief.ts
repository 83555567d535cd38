import type { TaskBrief } from '../ports.ts';
import type { GraphState, PivotRecord, TaskRecord } from '../types.ts';

// What agents are told about a task, whatever they are asked to do with it.

export function taskBrief(task: TaskRecord): TaskBrief {
  const { taskId, name, description, acceptanceCriteria = [], kind, checkedBy } = task;
  return {
    taskId,
    name,
    description,
    acceptanceCriteria,
    ...(kind !== undefined && { kind }),
    ...(checkedBy !== undefined && { checkedBy }),
  };
}

/** Strategies of a task, oldest first; the last one is in force. */
export function strategiesOf({ pivots }: Pick<GraphState, 'pivots'>, taskId: string): readonly PivotRecord[] {
  return pivots.filter((pivot) => pivot.taskId === taskId);
}

/** What humans said about a task, oldest first. */
export function guidanceFor({ guidance }: Pick<GraphState, 'guidance'>, taskId: string): readonly string[] {
  return guidance.filter((entry) => entry.taskId === taskId).map(({ text }) => text);
}
