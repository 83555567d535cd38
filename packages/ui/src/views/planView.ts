import type { GraphState, PipelineRunInfo } from '@devs/core';

type Task = PipelineRunInfo['tasks'][number];

/** A task as the picture of a plan has it. */
export interface PlannedTask extends Task {
  /** Ids of the tasks it stands on. */
  readonly dependsOn: readonly string[];
  /** Name of its epic. */
  readonly epic: string | null;
}

/** The plan of a run; empty before there is one, and in a run of an own graph. */
export function planView(
  tasks: readonly PipelineRunInfo['tasks'][number][],
  state: GraphState | null,
): readonly PlannedTask[] {
  const records = new Map((state?.tasks ?? []).map((task) => [task.taskId, task]));
  const epics = new Map((state?.epics ?? []).map(({ epicId, name }) => [epicId, name]));
  return tasks.map((task) => {
    const { dependsOn = [], epicId = '' } = records.get(task.taskId) ?? {};
    return { ...task, dependsOn, epic: epics.get(epicId) ?? null };
  });
}
