import type { AppliedAnswer, Goal, GoalReader } from '../engine/graph/NodeEngine.ts';
import { isDagApproved } from './gates/artifacts.ts';
import {
  activeTask,
  beginTask,
  dependenciesOf,
  isTaskTerminal,
  readyTasks,
  taskLabel,
} from './taskStates.ts';
import type { GraphState, HitlGate } from './types.ts';

/** How far a run of the pipeline is driven. */
export type PipelineGoal =
  /** Until that gate is approved. */
  | { readonly until: 'design' | 'dag' }
  /** `T4`: until that task, with what it depends on, is done. No other task is begun. */
  | { readonly only: string }
  /** `E1`: until the tasks of that epic, with what they depend on, are done. No other task is begun. */
  | { readonly epic: string };

/**
 * The goal in options of which at most one may be given.
 *
 * @throws RangeError for two goals, or a name that is not `T` or `E` and a number from 1.
 */
export function pipelineGoal({ until, only, epic }: GoalOptions): PipelineGoal | undefined {
  const goals: PipelineGoal[] = [];
  if (until !== undefined) goals.push({ until });
  if (only !== undefined) goals.push({ only: goalLabel('only', 'T', only) });
  if (epic !== undefined) goals.push({ epic: goalLabel('epic', 'E', epic) });
  if (goals.length > 1) throw new RangeError('Use only one of `until`, `only` and `epic`.');
  return goals[0];
}

export interface GoalOptions {
  readonly until?: 'design' | 'dag';
  readonly only?: string;
  readonly epic?: string;
}

function goalLabel(name: string, letter: 'T' | 'E', value: string): string {
  if (new RegExp(`^${letter}[1-9]\\d*$`).test(value)) return value;
  throw new RangeError(`${name} must be ${letter} and a number, such as ${letter}1, got "${value}".`);
}

export const pipelineGoals: GoalReader = {
  nodes: ['approveDesign', 'approveTaskDag', 'verify'],
  words: (goal) => formatGoal(goal as PipelineGoal),
  reached: (values, goal) => goalReached(values as GraphState | null, goal as PipelineGoal),
};

/** Has `implement` begin with a task of the goal; one that is under way is finished first. */
export function steerToGoal(state: GraphState, node: string, goal: Goal): AppliedAnswer<GraphState> {
  const wanted = node === 'implement' ? goalTasks(state, goal as PipelineGoal) : null;
  const active = activeTask(state);
  const isUnderWay = active !== null && !isTaskTerminal(active, state.activeTaskId);
  if (wanted === null || isUnderWay) return { update: {}, runNode: true };
  const task = readyTasks(state).find(({ taskId }) => wanted.has(taskId));
  // Nothing of the goal is left: the driver stops after `verify`, which must not look at the last task again.
  if (task === undefined) return { update: { activeTaskId: null }, runNode: false };
  return { update: beginTask(task), runNode: true };
}

function formatGoal(goal: PipelineGoal): string {
  if ('until' in goal) return `until the ${goal.until === 'dag' ? 'plan' : 'design'} is approved`;
  return 'only' in goal ? `only ${goal.only}` : `epic ${goal.epic}`;
}

/** @param state - `null` before the first checkpoint. */
function goalReached(state: GraphState | null, goal: PipelineGoal): string | null {
  if (state === null) return null;
  if ('until' in goal) return reachedGate(state, goal.until);
  // Its code is shown to a human first.
  if (!isDagApproved(state) || state.pendingSuspension?.kind === 'review') return null;
  const wanted = goalTasks(state, goal);
  const name = labelOfGoal(goal);
  if (wanted === null || wanted.size === 0) return `the plan has no ${name}`;
  const tasks = state.tasks.filter(({ taskId }) => wanted.has(taskId));
  if (!tasks.every((task) => isTaskTerminal(task, state.activeTaskId))) return null;
  return tasks.every(({ status }) => status === 'completed')
    ? `${name} is finished`
    : `${name} has tasks that were given up`;
}

/** A run that was started with its plan alone has no design gate. */
function reachedGate(state: GraphState, until: 'design' | 'dag'): string | null {
  if (isApproved(state, 'dag_approval')) return 'the plan is approved';
  return until === 'design' && isApproved(state, 'design_approval') ? 'the design is approved' : null;
}

const isApproved = ({ hitlDecisions }: GraphState, gate: HitlGate): boolean =>
  hitlDecisions.findLast((decision) => decision.gate === gate)?.signal.approved === true;

const labelOfGoal = (goal: Exclude<PipelineGoal, { readonly until: unknown }>): string =>
  'only' in goal ? goal.only : goal.epic;

/** Ids of the tasks of a goal and of all they depend on; `null` for a goal that is not about tasks. */
function goalTasks({ tasks, epics }: GraphState, goal: PipelineGoal): ReadonlySet<string> | null {
  if ('until' in goal) return null;
  const epicId = 'epic' in goal && epics.find(({ phaseNumber }) => `E${phaseNumber}` === goal.epic)?.epicId;
  const isNamed = 'only' in goal ? (id: string) => taskLabel(id) === goal.only : () => false;
  const named = tasks.filter((task) => task.epicId === epicId || isNamed(task.taskId));
  return dependenciesOf(
    tasks,
    named.map(({ taskId }) => taskId),
  );
}
