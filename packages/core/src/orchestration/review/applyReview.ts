import type { AppliedAnswer } from '../../engine/GraphProfile.ts';
import { rejectionText } from '../../engine/gates/comments.ts';
import type { Question } from '../../engine/gates/question.ts';
import type { CodeReview } from '../CodeReview.ts';
import { beginTask, readyTasks, taskLabel } from '../taskStates.ts';
import type { GraphState, HitlDecisionRecord } from '../types.ts';
import type { ReviewAnswer } from './reviewGate.ts';

/**
 * What a human's word on code changes. Approved: the decision is recorded, and `verify` goes on from there, or asks
 * again when the branch has moved. Rejected: the named tasks, else the last one, are taken up again with the feedback;
 * tasks that are completed and depend on them stay as they are.
 */
export function applyReview(
  state: GraphState,
  { artifactHash }: Pick<Question, 'artifactHash'>,
  answer: ReviewAnswer,
): AppliedAnswer<GraphState> {
  const review = state.pendingSuspension?.review;
  if (review === undefined) return { update: { pendingSuspension: null }, runNode: true };
  const reopened = answer.approved ? [] : reopenedBy(answer, review);
  const decided = {
    pendingSuspension: null,
    hitlDecisions: [...state.hitlDecisions, reviewDecision(review, answer, { artifactHash, reopened })],
  };
  if (answer.approved) return { update: { ...decided, activeTaskId: null }, runNode: false };
  return { update: { ...decided, ...reopen(state, reopened, rejectionText(answer) ?? '') }, runNode: true };
}

function reopenedBy({ tasks: labels }: ReviewAnswer, { taskIds }: CodeReview): readonly string[] {
  if (labels === undefined) return taskIds.slice(-1);
  return taskIds.filter((taskId) => labels.includes(taskLabel(taskId)));
}

function reviewDecision(
  { scope, epicId, taskIds, range: { from, to } }: CodeReview,
  { tasks: _labels, ...signal }: ReviewAnswer,
  { artifactHash, reopened }: { readonly artifactHash: string; readonly reopened: readonly string[] },
): HitlDecisionRecord {
  return {
    gate: 'review',
    signal,
    decidedAt: signal.approvedAt ?? new Date().toISOString(),
    artifactHash,
    review: { scope, epicId, taskIds, from, to, reopened },
  };
}

function reopen(state: GraphState, taskIds: readonly string[], feedback: string): Partial<GraphState> {
  const tasks = state.tasks.map((task) =>
    taskIds.includes(task.taskId) ? { ...task, status: 'pending' as const } : task,
  );
  const reopened = tasks.filter(({ taskId }) => taskIds.includes(taskId));
  const isTheirs = (epicId: string): boolean => reopened.some((task) => task.epicId === epicId);
  // Of tasks whose dependencies were all completed, one at least has none that is reopened with it.
  const first = readyTasks({ tasks }).find(({ taskId }) => taskIds.includes(taskId));
  return {
    ...(first && beginTask(first)),
    tasks,
    epics: state.epics.map((epic) => (isTheirs(epic.epicId) ? { ...epic, status: 'active' } : epic)),
    guidance: [...state.guidance, ...taskIds.map((taskId) => ({ taskId, text: feedback }))],
    pendingRecoveryNode: null,
  };
}
