import { DevsError } from '../../errors/DevsError.ts';
import type { EpicDraft, PlanResult, TaskDraft } from '../ports.ts';
import { taskLabel, taskNumber } from '../taskStates.ts';
import type { EpicRecord, GraphState, RequirementRecord, TaskRecord } from '../types.ts';

// Plans of tasks: a proposal or an edit is checked, then becomes records of the state. Pure.

type TaskPlan = Pick<GraphState, 'requirements' | 'epics' | 'tasks'>;

/**
 * Tells whether a proposed plan can become tasks.
 *
 * @throws DevsError `DAG_INVALID` for a duplicate key, an unknown dependency or requirement, an epic without tasks, a
 *   task whose kind and `checkedBy` do not go together, or a cycle (with its path).
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
  assertKnownTasks(tasks, draft);
  assertKinds(tasks);
  assertAcyclic(tasks);
}

/**
 * Turns a proposed plan into records. Ids are issued here, unique in the file and never reused: the agent's keys
 * only say which task depends on which.
 *
 * @param kept - Ids of tasks that stay, by key.
 * @throws DevsError `DAG_INVALID`, see {@link assertPlan}.
 */
export function planFrom(
  state: Pick<GraphState, 'projectConfig' | 'tasks' | 'hitlDecisions'>,
  draft: PlanResult,
  kept: ReadonlyMap<string, string> = new Map(),
): TaskPlan {
  assertPlan(draft);
  const { projectId } = state.projectConfig;
  const first = lastIssuedNumber(state) + 1;
  const added = draft.epics.flatMap((epic) => epic.tasks).filter(({ key }) => !kept.has(key));
  const idOf = new Map([
    ...kept,
    ...added.map(({ key }, index) => [key, `${projectId}:${first + index}`] as const),
  ]);
  return planRecords({ ...state, requirements: [], epics: [], tasks: [] }, draft, idOf);
}

/** The highest task number issued so far; a dropped task's number is not issued again. */
export function lastIssuedNumber({
  tasks,
  hitlDecisions,
}: Pick<GraphState, 'tasks' | 'hitlDecisions'>): number {
  const dropped = hitlDecisions.flatMap(
    ({ edit, lastTaskNumber }) => edit?.lastTaskNumber ?? lastTaskNumber ?? [],
  );
  return Math.max(0, ...tasks.map(({ taskId }) => taskNumber(taskId)), ...dropped);
}

/** The records of a valid plan. What the state knows already (a task by its id, an epic by its name) goes on. */
function planRecords(
  state: Pick<GraphState, 'projectConfig' | 'requirements' | 'epics' | 'tasks'>,
  draft: PlanResult,
  idOf: ReadonlyMap<string, string>,
): TaskPlan {
  const { projectId } = state.projectConfig;
  const requirements = draft.requirements.map((requirement) =>
    requirementRecord(projectId, requirement, state),
  );
  const requirementIds = new Map(
    requirements.map(({ externalId, requirementId }) => [externalId, requirementId]),
  );
  const ids: PlanIds = { task: idOf, requirement: requirementIds };
  const epics = epicRecords(projectId, draft.epics, { known: state.epics, ids });
  const known = new Map(state.tasks.map((task) => [task.taskId, task]));
  return {
    requirements,
    epics,
    tasks: draft.epics.flatMap(({ tasks }, index) =>
      tasks.map((task) => {
        const record = taskRecord(task, epics[index]?.epicId as string, ids);
        return { ...record, ...freshStatus(known.get(record.taskId)) };
      }),
    ),
  };
}

/** Ids of records by their names in a plan. */
interface PlanIds {
  readonly task: ReadonlyMap<string, string>;
  readonly requirement: ReadonlyMap<string, string>;
}

/** The members of a task that a plan does not have. */
function freshStatus(known: TaskRecord | undefined): Partial<TaskRecord> {
  if (known === undefined) return {};
  const { status, agentRole, gitHash } = known;
  return { status, agentRole, ...(gitHash !== undefined && { gitHash }) };
}

function requirementRecord(
  projectId: string,
  { externalId, description }: PlanResult['requirements'][number],
  { requirements }: Pick<GraphState, 'requirements'>,
): RequirementRecord {
  const known = requirements.find((requirement) => requirement.externalId === externalId);
  if (known !== undefined) return { ...known, description };
  const requirementId = `${projectId}/${externalId}`;
  return { requirementId, projectId, externalId, description, status: 'pending', dependsOn: [] };
}

function epicRecords(
  projectId: string,
  drafts: readonly EpicDraft[],
  { known, ids }: { readonly known: readonly EpicRecord[]; readonly ids: PlanIds },
): readonly EpicRecord[] {
  const last = Math.max(0, ...known.map(({ epicId }) => epicNumber(epicId)));
  const added = drafts.filter(({ name }) => !known.some((epic) => epic.name === name));
  return drafts.map((draft, index) => {
    const { name, description, tasks } = draft;
    const phaseNumber = index + 1;
    const externalIds = new Set(tasks.flatMap(({ requirements }) => requirements));
    const requirementIds = [...externalIds].map((id) => ids.requirement.get(id) as string);
    const same = known.find((epic) => epic.name === name);
    if (same !== undefined) return { ...same, description, phaseNumber, requirementIds };
    const epicId = `${projectId}/epic-${last + 1 + added.indexOf(draft)}`;
    return { epicId, projectId, name, description, status: 'pending', phaseNumber, requirementIds };
  });
}

const epicNumber = (epicId: string): number => Number(/epic-(\d+)$/.exec(epicId)?.[1] ?? 0);

function taskRecord(draft: TaskDraft, epicId: string, ids: PlanIds): TaskRecord {
  return {
    taskId: ids.task.get(draft.key) as string,
    epicId,
    name: draft.name,
    description: draft.description,
    status: 'pending',
    agentRole: 'developer',
    dependsOn: draft.dependsOn.map((key) => ids.task.get(key) as string),
    requirementIds: draft.requirements.map((id) => ids.requirement.get(id) as string),
    acceptanceCriteria: draft.acceptanceCriteria,
    ...taskKind(draft),
  };
}

/** How a task is shown to be right: nothing where that is a test first, so that older plans keep their hashes. */
export function taskKind({
  kind,
  checkedBy,
}: Pick<TaskDraft, 'kind' | 'checkedBy'>): Pick<TaskDraft, 'kind' | 'checkedBy'> {
  if (kind === undefined || kind === 'test-first') return {};
  return { kind, ...(checkedBy !== undefined && { checkedBy }) };
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

function assertKnownTasks(tasks: readonly TaskDraft[], { requirements }: PlanResult): void {
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

/** A command is split here already: what needs a shell is found before anybody approves it. */
function assertKinds(tasks: readonly TaskDraft[]): void {
  for (const { key, kind, checkedBy } of tasks) {
    if (kind !== 'checked-by') {
      if (checkedBy === undefined) continue;
      throw dagInvalid(`"${key}" names what it is checked by, and is not of the kind checked-by`);
    }
    if (checkedBy === undefined || checkedBy.trim() === '') {
      throw dagInvalid(`"${key}" is checked-by something and does not say what: a command, or review`);
    }
    if (commandWords(checkedBy) === null) {
      throw dagInvalid(
        `"${key}" is checked by ${JSON.stringify(checkedBy)}, which is no command without a shell`,
      );
    }
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
    remedy: 'Correct the edit, reject the plan with feedback, or correct the agent that proposed it.',
  });
}

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

const WORD = /'[^']*'|"[^"]*"|[^\s'"]+/g;
const COMMAND = /^\s*(?:(?:'[^']*'|"[^"]*"|[^\s'"]+)(?:\s+|$))+$/;

/** What only a shell understands, as a word of its own or at the beginning of one. */
const OF_A_SHELL = /^(?:[|&;<>`]|\d*>|\$\()|[|&;]$/;

/**
 * Program and arguments of a command: words between spaces, a word with spaces in quotes. `null` for what is none, or
 * needs a shell.
 */
export function commandWords(text: string): readonly string[] | null {
  if (!COMMAND.test(text)) return null;
  const words = text.match(WORD) ?? [];
  if (words.some((word) => OF_A_SHELL.test(word))) return null;
  return words.map((word) => word.replace(/^(['"])(.*)\1$/s, '$2'));
}
