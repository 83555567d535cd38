import type { PlanResult } from '../ports.ts';
import { taskLabel } from '../taskStates.ts';
import type { GraphState, TaskRecord } from '../types.ts';
import {
  assertPlan,
  assertUnique,
  dagInvalid,
  lastIssuedNumber,
  planRecords,
  type TaskPlan,
  taskKind,
} from './plan.ts';

/** What an edit is about: tasks by their issued ids, requirements by the ids people use. */
export interface ShownPlan {
  readonly requirements: readonly Pick<
    GraphState['requirements'][number],
    'requirementId' | 'externalId' | 'description'
  >[];
  readonly epics: readonly Pick<GraphState['epics'][number], 'epicId' | 'name' | 'description'>[];
  readonly tasks: readonly Pick<
    TaskRecord,
    | 'taskId'
    | 'epicId'
    | 'name'
    | 'description'
    | 'dependsOn'
    | 'requirementIds'
    | 'acceptanceCriteria'
    | 'kind'
    | 'checkedBy'
  >[];
}

/** Looks like the number of an issued task. */
const LABEL = /^T\d+$/;

/** A plan in the form in which it is edited, tasks in the order in which they are worked on. */
export function planDraftOf({ requirements, epics, tasks }: ShownPlan): PlanResult {
  const externalIds = new Map(
    requirements.map(({ requirementId, externalId }) => [requirementId, externalId]),
  );
  return {
    requirements: requirements.map(({ externalId, description }) => ({ externalId, description })),
    epics: epics.map(({ epicId, name, description }) => ({
      name,
      description,
      tasks: tasks
        .filter((task) => task.epicId === epicId)
        .map((task) => ({
          key: taskLabel(task.taskId),
          name: task.name,
          description: task.description,
          dependsOn: task.dependsOn.map(taskLabel),
          requirements: (task.requirementIds ?? []).map((id) => externalIds.get(id) ?? id),
          acceptanceCriteria: task.acceptanceCriteria ?? [],
          ...taskKind(task),
        })),
    })),
  };
}

/**
 * Tells whether a human's version of a plan can become tasks.
 *
 * @throws DevsError `DAG_INVALID` as for a proposed plan, and for a number that no task of the plan has: numbers are
 *   issued by the engine.
 */
export function assertPlanEdit({ tasks }: Pick<ShownPlan, 'tasks'>, draft: PlanResult): void {
  assertPlan(draft);
  assertUnique(
    draft.epics.map(({ name }) => name),
    'epic name',
  );
  const known = new Set(tasks.map(({ taskId }) => taskLabel(taskId)));
  const keys = draft.epics.flatMap((epic) => epic.tasks.map(({ key }) => key));
  const unissued = keys.find((key) => LABEL.test(key) && !known.has(key));
  if (unissued === undefined) return;
  throw dagInvalid(`"${unissued}" is no task of this plan; give a new task a word as its key`);
}

/**
 * The records of a plan after a human edited it: a kept task keeps its id, a new one gets a number that no task had.
 * Pure.
 *
 * @throws DevsError `DAG_INVALID`, see {@link assertPlanEdit}.
 */
export function editedPlan(state: GraphState, draft: PlanResult): TaskPlan {
  assertPlanEdit(state, draft);
  const issued = new Map(state.tasks.map(({ taskId }) => [taskLabel(taskId), taskId]));
  const added = draft.epics.flatMap(({ tasks }) => tasks).filter(({ key }) => !issued.has(key));
  const first = lastIssuedNumber(state) + 1;
  added.forEach(({ key }, index) => {
    issued.set(key, `${state.projectConfig.projectId}:${first + index}`);
  });
  return planRecords(state, draft, issued);
}
