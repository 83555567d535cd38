import { advance } from '../../orchestration/advance.ts';
import { closeEpics } from '../../orchestration/taskStates.ts';
import type { EpicRecord, GraphState, HitlDecisionRecord, TaskRecord } from '../../orchestration/types.ts';
import type { EarlierPlan } from './withoutLaterWork.ts';

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
