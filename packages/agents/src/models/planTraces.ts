import type { PlanResult } from '@devs/core';

/** What a plan leaves untraced: from requirement to task and back, and what a task is judged by; `null` for nothing. */
export function untracedIn({ requirements, epics }: PlanResult): string | null {
  const tasks = epics.flatMap((epic) => epic.tasks);
  const traced = new Set(tasks.flatMap((task) => task.requirements));
  const problems = [
    ...tasks
      .filter((task) => task.requirements.length === 0)
      .map(({ key }) => `the task "${key}" traces to no requirement`),
    ...tasks
      .filter((task) => task.acceptanceCriteria.length === 0)
      .map(({ key }) => `the task "${key}" has no acceptance criterion`),
    ...tasks
      .filter(({ kind, checkedBy }) => kind === 'checked-by' && checkedBy === undefined)
      .map(({ key }) => `the task "${key}" is checked-by, and checkedBy does not say what shows it`),
    ...requirements
      .filter(({ externalId }) => !traced.has(externalId))
      .map(({ externalId }) => `no task traces to the requirement "${externalId}"`),
  ];
  return problems.length === 0 ? null : `${problems.join('; ')}.`;
}
