import { onceForLasting } from '../values/lasting.ts';
import type { CheckResult } from './ports.ts';
import type { CheckedTree, EpicRecord, GraphState, ProjectStatus, TaskRecord } from './types.ts';

// The tasks of a plan: their names, when they are finished or ready, how one begins, changes or is given up. The status of
// the project follows them. Pure; every router and node uses these.

type Tasks = Pick<GraphState, 'tasks' | 'activeTaskId'>;

/** The number in an issued task id: 3 in `csv-export-1a2b3c:3`. */
export function taskNumber(taskId: string): number {
  return Number(taskId.slice(taskId.lastIndexOf(':') + 1)) || 0;
}

/** The name of a task for people: `T3` for `csv-export-1a2b3c:3`. */
export const taskLabel = (taskId: string): string => `T${taskNumber(taskId)}`;

/**
 * True when nothing more will happen to a task. A failed task that is still the active one is being retried: were
 * it terminal, every red attempt would count as progress.
 */
export function isTaskTerminal(task: TaskRecord, activeTaskId: string | null): boolean {
  if (task.status === 'completed' || task.status === 'skipped') return true;
  return (task.status === 'failed' || task.status === 'blocked') && task.taskId !== activeTaskId;
}

export function activeTask({ tasks, activeTaskId }: Tasks): TaskRecord | null {
  return activeTaskId === null ? null : (tasksById(tasks).get(activeTaskId) ?? null);
}

/** The tasks, in the order of the DAG, that are pending and whose dependencies are completed. */
export const readyTasks = ({ tasks }: Pick<GraphState, 'tasks'>): readonly TaskRecord[] => readyAmong(tasks);

const readyAmong = onceForLasting((tasks: GraphState['tasks']): readonly TaskRecord[] => {
  const completed = new Set(tasks.filter(({ status }) => status === 'completed').map(({ taskId }) => taskId));
  const isReady = ({ status, dependsOn }: TaskRecord): boolean =>
    status === 'pending' && dependsOn.every((id) => completed.has(id));
  return tasks.filter(isReady);
});

export const tasksById = onceForLasting(
  (tasks: GraphState['tasks']): ReadonlyMap<string, TaskRecord> =>
    new Map(tasks.map((task) => [task.taskId, task])),
);

export function firstReadyTask(state: Pick<GraphState, 'tasks'>): TaskRecord | null {
  return readyTasks(state)[0] ?? null;
}

export interface PickedTask {
  /** The task to work on; `null` when none is ready. */
  readonly task: TaskRecord | null;
  /** The state its episode starts with: another task drops the turns, loops and errors of the one before. */
  readonly state: GraphState;
}

/** Keeps the active task until it is terminal, then takes the first ready one in the order of the DAG. */
export function pickTask(state: GraphState): PickedTask {
  const active = activeTask(state);
  if (active !== null && !isTaskTerminal(active, state.activeTaskId)) return { task: active, state };
  const task = firstReadyTask(state);
  if (task === null) return { task, state };
  return { task, state: { ...state, ...beginTask(task) } };
}

/** The update that makes a task the active one, with nothing counted yet but the attempts of a reopened one. */
export function beginTask({ taskId, epicId, attempts = 0 }: TaskRecord): Partial<GraphState> {
  const episode = {
    implementationTurns: 0,
    taskAttempts: attempts,
    taskPivots: 0,
    entropy: [],
    errorHistory: [],
  };
  return { ...episode, activeTaskId: taskId, activeEpicId: epicId };
}

/** The tasks with one of them changed. */
export function withTask(
  tasks: readonly TaskRecord[],
  taskId: string,
  change: Partial<
    Pick<
      TaskRecord,
      | 'status'
      | 'gitHash'
      | 'evidence'
      | 'attempts'
      | 'testFiles'
      | 'green'
      | 'losses'
      | 'findings'
      | 'reviewerSaid'
      | 'commitMessage'
    >
  >,
): readonly TaskRecord[] {
  return tasks.map((task) => (task.taskId === taskId ? { ...task, ...change } : task));
}

/** The tasks, one of them without what its last turn was found to be. */
export function withoutVerdict(tasks: readonly TaskRecord[], taskId: string): readonly TaskRecord[] {
  return tasks.map((task) => {
    if (task.taskId !== taskId) return task;
    const { green: _green, losses: _losses, findings: _findings, ...others } = task;
    const { commitMessage: _message, reviewerSaid: _said, ...rest } = others;
    return rest;
  });
}

/** The tasks, of which one alone keeps the check it was found green by. */
export function withGreenOf(tasks: readonly TaskRecord[], taskId: string): readonly TaskRecord[] {
  return tasks.map((task) => {
    if (task.taskId === taskId || task.green === undefined) return task;
    const { green: _green, ...rest } = task;
    return rest;
  });
}

/** Ids of the named tasks and of all they depend on, transitively. */
export function dependenciesOf(
  tasks: readonly TaskRecord[],
  taskIds: readonly string[],
): ReadonlySet<string> {
  const byId = tasksById(tasks);
  const found = new Set<string>();
  const queue = [...taskIds];
  for (let current = queue.pop(); current !== undefined; current = queue.pop()) {
    if (found.has(current)) continue;
    found.add(current);
    queue.push(...(byId.get(current)?.dependsOn ?? []));
  }
  return found;
}

export function isEpicOpen({ status }: EpicRecord): boolean {
  return status !== 'completed' && status !== 'failed';
}

/**
 * Gives a task up: nobody works on it again, and what depends on it, directly or not, is blocked.
 *
 * @param status - `skipped` by a person; `failed` by itself, or by a person before there was a word for it.
 */
export function abandonTask(
  tasks: readonly TaskRecord[],
  taskId: string,
  status: 'skipped' | 'failed' = 'skipped',
): readonly TaskRecord[] {
  const blocked = dependentsOf(tasks, taskId);
  return tasks.map((task) => {
    if (task.taskId === taskId) return { ...task, status };
    return blocked.has(task.taskId) && task.status !== 'completed' ? { ...task, status: 'blocked' } : task;
  });
}

/** Ids of the tasks that depend on a task, transitively. */
export function dependentsOf(tasks: readonly TaskRecord[], taskId: string): ReadonlySet<string> {
  const found = new Set<string>();
  const queue = [taskId];
  for (let current = queue.pop(); current !== undefined; current = queue.pop()) {
    for (const task of tasks) {
      if (!task.dependsOn.includes(current) || found.has(task.taskId)) continue;
      found.add(task.taskId);
      queue.push(task.taskId);
    }
  }
  return found;
}

/**
 * Closes every open epic whose tasks are all terminal. What a person gave up, and what waits for that alone, is no
 * failure. An epic without tasks closes only when it is the active one:
 * it has then been through `distill`, which found nothing to do.
 */
export function closeEpics({
  epics,
  tasks,
  activeEpicId,
  activeTaskId,
}: Pick<GraphState, 'epics' | 'tasks' | 'activeEpicId' | 'activeTaskId'>): readonly EpicRecord[] {
  return epics.map((epic) => {
    const own = tasks.filter(({ epicId }) => epicId === epic.epicId);
    const isDone =
      own.length > 0 ? own.every((task) => isTaskTerminal(task, activeTaskId)) : epic.epicId === activeEpicId;
    if (!isEpicOpen(epic) || !isDone) return epic;
    return { ...epic, status: own.some((task) => isFailure(task, tasks)) ? 'failed' : 'completed' };
  });
}

/** Blocked tasks have failed where one that they need has, and not where a person gave all of those up. */
function isFailure({ taskId, status }: TaskRecord, tasks: readonly TaskRecord[]): boolean {
  if (status !== 'blocked') return status === 'failed';
  const needed = dependenciesOf(tasks, [taskId]);
  return tasks.some((task) => needed.has(task.taskId) && task.status === 'failed');
}

/** `without T2, skipped by a person, and T3, blocked by that`; `null` where no task was given up by a person. */
export function formatSkippedTasks(tasks: readonly TaskRecord[]): string | null {
  const labels = (wanted: TaskRecord['status']): string =>
    tasks
      .filter(({ status }) => status === wanted)
      .map(({ taskId }) => taskLabel(taskId))
      .join(', ');
  const [skipped, blocked] = [labels('skipped'), labels('blocked')];
  if (skipped === '') return null;
  return `without ${skipped}, skipped by a person${blocked === '' ? '' : `, and ${blocked}, blocked by that`}`;
}

/** The update that moves the project to another status. */
export function advance(
  state: GraphState,
  status: ProjectStatus,
): Pick<GraphState, 'status' | 'projectConfig'> {
  return { status, projectConfig: { ...state.projectConfig, status } };
}

/** Of a check's output, in characters: its end says what failed. */
const OUTPUT_KEPT = 4_000;

/** A check as the state of a run keeps it. */
export function checkKept(tree: string, check: CheckResult): CheckedTree {
  return { tree, check: { ...check, output: check.output.slice(-OUTPUT_KEPT) } };
}

/** The result of the checks on a tree; `null` if the state does not have it any more. */
export function checkOf({ tasks }: Pick<GraphState, 'tasks'>, tree: string): CheckResult | null {
  return tasks.findLast(({ green }) => green?.tree === tree)?.green?.check ?? null;
}
