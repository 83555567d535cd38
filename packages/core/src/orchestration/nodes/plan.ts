import { DevsError } from '../../errors/DevsError.ts';
import type { EpicDraft, PlanResult, TaskDraft } from '../ports.ts';
import type { EpicRecord, GraphState, RequirementRecord, TaskRecord } from '../types.ts';

type Plan = Pick<GraphState, 'requirements' | 'epics' | 'tasks'>;

/**
 * Tells whether a proposed plan can become tasks.
 *
 * @throws DevsError `DAG_INVALID` for a duplicate key, an unknown dependency or requirement, an epic without tasks, or
 *   a cycle (with its path).
 */
export function assertPlan(draft: PlanResult): void {
  const tasks = draft.epics.flatMap((epic) => epic.tasks);
  assertUnique(
    tasks.map(({ key }) => key),
    'task key',
  );
  assertUnique(
    draft.requirements.map(({ externalId }) => externalId),
    'requirement id',
  );
  assertWorkInEveryEpic(draft);
  assertKnown(tasks, draft);
  assertAcyclic(tasks);
}

/**
 * Turns a proposed plan into records. Ids are issued here, unique in the file and never reused: the agent's keys
 * only say which task depends on which.
 *
 * @throws DevsError `DAG_INVALID`, see {@link assertPlan}.
 */
export function planFrom(state: Pick<GraphState, 'projectConfig' | 'tasks'>, draft: PlanResult): Plan {
  assertPlan(draft);
  const tasks = draft.epics.flatMap((epic) => epic.tasks);
  const { projectId } = state.projectConfig;
  const firstNumber = 1 + Math.max(0, ...state.tasks.map(({ taskId }) => taskNumber(taskId)));
  const idOf = new Map(tasks.map(({ key }, index) => [key, `${projectId}:${firstNumber + index}`]));
  return {
    requirements: draft.requirements.map((requirement) => requirementRecord(projectId, requirement)),
    epics: draft.epics.map((epic, index) => epicRecord(projectId, epic, index + 1)),
    tasks: draft.epics.flatMap((epic, index) =>
      epic.tasks.map((task) => taskRecord(projectId, task, epicId(projectId, index + 1), idOf)),
    ),
  };
}

/** The number in an issued task id: 3 in `csv-export-1a2b3c:3`. */
export function taskNumber(taskId: string): number {
  return Number(taskId.slice(taskId.lastIndexOf(':') + 1)) || 0;
}

const epicId = (projectId: string, number: number): string => `${projectId}/epic-${number}`;
const requirementId = (projectId: string, externalId: string): string => `${projectId}/${externalId}`;

function requirementRecord(
  projectId: string,
  { externalId, description }: PlanResult['requirements'][number],
): RequirementRecord {
  const id = requirementId(projectId, externalId);
  return { requirementId: id, projectId, externalId, description, status: 'pending', dependsOn: [] };
}

function epicRecord(
  projectId: string,
  { name, description, tasks }: EpicDraft,
  phaseNumber: number,
): EpicRecord {
  const externalIds = new Set(tasks.flatMap(({ requirements }) => requirements));
  return {
    epicId: epicId(projectId, phaseNumber),
    projectId,
    name,
    description,
    status: 'pending',
    phaseNumber,
    requirementIds: [...externalIds].map((id) => requirementId(projectId, id)),
  };
}

function taskRecord(
  projectId: string,
  draft: TaskDraft,
  epic: string,
  idOf: ReadonlyMap<string, string>,
): TaskRecord {
  return {
    taskId: idOf.get(draft.key) as string,
    epicId: epic,
    name: draft.name,
    description: draft.description,
    status: 'pending',
    agentRole: 'developer',
    dependsOn: draft.dependsOn.map((key) => idOf.get(key) as string),
    requirementIds: draft.requirements.map((id) => requirementId(projectId, id)),
    acceptanceCriteria: draft.acceptanceCriteria,
  };
}

function assertUnique(names: readonly string[], what: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw dagInvalid(`the ${what} "${twice}" is used twice`);
}

/** An epic without tasks could only be closed by planning everything again. */
function assertWorkInEveryEpic({ epics }: PlanResult): void {
  const empty = epics.find(({ tasks }) => tasks.length === 0);
  if (empty !== undefined) throw dagInvalid(`the epic "${empty.name}" has no tasks`);
}

function assertKnown(tasks: readonly TaskDraft[], { requirements }: PlanResult): void {
  const keys = new Set(tasks.map(({ key }) => key));
  const ids = new Set(requirements.map(({ externalId }) => externalId));
  for (const task of tasks) {
    const unknownTask = task.dependsOn.find((key) => !keys.has(key));
    if (unknownTask !== undefined)
      throw dagInvalid(`"${task.key}" depends on "${unknownTask}", which is no task`);
    const unknownId = task.requirements.find((id) => !ids.has(id));
    if (unknownId !== undefined)
      throw dagInvalid(`"${task.key}" names the unknown requirement "${unknownId}"`);
  }
}

/** Walks every task's dependencies with an explicit path, so that the error can name the cycle. */
function assertAcyclic(tasks: readonly TaskDraft[]): void {
  const dependsOn = new Map(tasks.map((task) => [task.key, task.dependsOn]));
  const done = new Set<string>();
  const visit = (key: string, path: readonly string[]): void => {
    if (done.has(key)) return;
    const start = path.indexOf(key);
    if (start !== -1) throw dagInvalid(`it has the cycle ${[...path.slice(start), key].join(' → ')}`);
    for (const next of dependsOn.get(key) ?? []) visit(next, [...path, key]);
    done.add(key);
  };
  for (const { key } of tasks) visit(key, []);
}

function dagInvalid(problem: string): DevsError {
  return new DevsError(`The proposed task DAG cannot be used: ${problem}.`, {
    code: 'DAG_INVALID',
    remedy: 'Send the plan back with a note, or correct the agent that proposed it.',
  });
}
