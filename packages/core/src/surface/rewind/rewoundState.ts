import { abandonTask, advance, closeEpics, dependentsOf } from '../../orchestration/taskStates.ts';
import type { EpicRecord, GraphState, HitlDecisionRecord, TaskRecord } from '../../orchestration/types.ts';

/**
 * The update that sets a run back to the end of `target`. Decisions on the plan and what humans said about its tasks
 * stay; whatever was counted or tried is forgotten. Pure.
 *
 * @param step - LangGraph's step of the checkpoint that gets it: a progress mark.
 */
export function rewoundState(
  state: GraphState,
  target: TaskRecord,
  { tasks, undone }: EarlierPlan,
  step: number,
): Partial<GraphState> {
  const isUndone = ({ taskId }: { readonly taskId: string }): boolean =>
    undone.some((task) => task.taskId === taskId);
  const planned = new Set(
    tasks.filter((task) => isUndone(task) && task.gitHash === undefined).map(({ taskId }) => taskId),
  );
  return {
    ...advance(state, 'implementing'),
    tasks,
    epics: reopened(state.epics, { tasks, undone }),
    activeTaskId: null,
    activeEpicId: target.epicId,
    agentLogs: state.agentLogs.filter((log) => !isUndone(log)),
    pivots: state.pivots.filter((pivot) => !isUndone(pivot)),
    hitlDecisions: withoutApprovals(state.hitlDecisions, planned),
    entropy: [],
    errorHistory: [],
    capturedError: null,
    implementationTurns: 0,
    taskAttempts: 0,
    taskPivots: 0,
    pendingApprovalGate: null,
    pendingRecoveryNode: null,
    pendingSuspension: null,
    progressStep: step,
  };
}

function reopened(epics: readonly EpicRecord[], { tasks, undone }: EarlierPlan): readonly EpicRecord[] {
  const touched = new Set(undone.map(({ epicId }) => epicId));
  const open = epics.map((epic): EpicRecord => {
    if (!touched.has(epic.epicId)) return epic;
    const isBegun = tasks.some(({ epicId, status }) => epicId === epic.epicId && status !== 'pending');
    return { ...epic, status: isBegun ? 'active' : 'pending' };
  });
  return closeEpics({ epics: open, tasks, activeEpicId: null, activeTaskId: null });
}

/**
 * Decisions on code that say nothing about the given tasks any more: an approval holds for exactly the code that was
 * shown. All decisions are kept, for their number names the next question.
 */
function withoutApprovals(
  decisions: readonly HitlDecisionRecord[],
  taskIds: ReadonlySet<string>,
): readonly HitlDecisionRecord[] {
  const others = (ids: readonly string[]): readonly string[] => ids.filter((id) => !taskIds.has(id));
  return decisions.map((decision) => {
    const { review } = decision;
    if (review === undefined || !review.taskIds.some((id) => taskIds.has(id))) return decision;
    const { taskIds: shown, reopened } = review;
    return { ...decision, review: { ...review, taskIds: others(shown), reopened: others(reopened) } };
  });
}

/** A plan with some of its tasks undone. */
export interface EarlierPlan {
  readonly tasks: readonly TaskRecord[];
  /** The tasks that were undone, as they were, in the order of the plan. */
  readonly undone: readonly TaskRecord[];
}

/**
 * The plan at the end of `target`: what was begun of the tasks that depend on it, and the task that is under way, is
 * pending again. Finished tasks that do not depend on it stay. A target that is not completed is undone itself. Pure.
 *
 * A task under way that a human had sent back, and that does not depend on `target`, is as it was sent back: what it had
 * committed before stays, for others may stand on it.
 */
export function withoutLaterWork(
  state: Pick<GraphState, 'tasks' | 'activeTaskId'>,
  target: TaskRecord,
): EarlierPlan {
  const later = dependentsOf(state.tasks, target.taskId);
  const isAnew = (task: TaskRecord): boolean =>
    later.has(task.taskId) || (task.taskId === target.taskId && task.status !== 'completed');
  const reset = state.tasks.map((task): TaskRecord => {
    if (isAnew(task)) return asPlanned(task);
    return isUnderWay(task, state.activeTaskId) ? { ...task, status: 'pending' } : task;
  });
  // A task that was given up and stays so goes on blocking what depends on it.
  const tasks = reset.reduce<readonly TaskRecord[]>(
    (all, { taskId, status }) =>
      status === 'failed' || status === 'skipped' ? abandonTask(all, taskId, status) : all,
    reset,
  );
  const undone = state.tasks.filter((task, at) => isChanged(task, tasks[at]));
  return { tasks, undone };
}

/** Begun and not ended; a failed task that is still the active one is being retried. */
function isUnderWay({ taskId, status }: TaskRecord, activeTaskId: string | null): boolean {
  if (status === 'in_progress' || status === 'resumed') return true;
  return taskId === activeTaskId && status === 'failed';
}

function asPlanned({
  gitHash: _hash,
  evidence: _evidence,
  attempts: _attempts,
  ...task
}: TaskRecord): TaskRecord {
  return { ...task, status: 'pending' };
}

/** A task that was sent back is pending before and after, and loses what it had committed. */
function isChanged(before: TaskRecord, after: TaskRecord | undefined): boolean {
  return before.status !== after?.status || before.gitHash !== after.gitHash;
}
