import type { PlanResult } from '@devs/core';

// What a person does to a plan before they give it back. Pure: each makes a plan anew.

export type PlanTask = PlanResult['epics'][number]['tasks'][number];

/** The epic and the task in it, from 0. */
export interface TaskAt {
  readonly epic: number;
  readonly task: number;
}

export const changeTask = (plan: PlanResult, at: TaskAt, patch: Partial<PlanTask>): PlanResult =>
  withTasks(plan, at.epic, (tasks) =>
    tasks.map((task, index) => (index === at.task ? { ...task, ...patch } : task)),
  );

/** Also out of what others wait for. */
export function dropTask(plan: PlanResult, at: TaskAt): PlanResult {
  const key = plan.epics[at.epic]?.tasks[at.task]?.key;
  const left = withTasks(plan, at.epic, (tasks) => tasks.filter((_, index) => index !== at.task));
  const epics = left.epics.map((epic) => ({
    ...epic,
    tasks: epic.tasks.map((task) => ({ ...task, dependsOn: task.dependsOn.filter((each) => each !== key) })),
  }));
  return { ...left, epics: epics.filter(({ tasks }) => tasks.length > 0) };
}

/** One up, or one down, in its epic. */
export const moveTask = (plan: PlanResult, at: TaskAt, by: 1 | -1): PlanResult =>
  withTasks(plan, at.epic, (tasks) => {
    const other = at.task + by;
    const [one, two] = [tasks[at.task], tasks[other]];
    if (one === undefined || two === undefined) return tasks;
    return tasks.map((task, index) => (index === at.task ? two : index === other ? one : task));
  });

/** Below another one; its key is a word of its own, and its number comes later. */
export function addTask(plan: PlanResult, at: TaskAt): PlanResult {
  const taken = new Set(plan.epics.flatMap(({ tasks }) => tasks.map(({ key }) => key)));
  let number = 1;
  while (taken.has(`new-${number}`)) number += 1;
  const fresh: PlanTask = {
    key: `new-${number}`,
    name: 'New task',
    description: '',
    dependsOn: [],
    requirements: [],
    acceptanceCriteria: [],
  };
  return withTasks(plan, at.epic, (tasks) => tasks.toSpliced(at.task + 1, 0, fresh));
}

const withTasks = (
  plan: PlanResult,
  epic: number,
  change: (tasks: readonly PlanTask[]) => readonly PlanTask[],
): PlanResult => ({
  ...plan,
  epics: plan.epics.map((each, index) => (index === epic ? { ...each, tasks: change(each.tasks) } : each)),
});

/** `T1, T2` and lines of a text as lists; what is blank is none. */
export const splitList = (text: string, separator: ',' | '\n'): readonly string[] =>
  text
    .split(separator)
    .map((each) => each.trim())
    .filter((each) => each !== '');
