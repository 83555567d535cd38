import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import {
  approval,
  COMMENTED_YES,
  hasNoCommentedYes,
  type QuotableSection,
  recordedApproval,
  rejectionText,
} from '../../engine/gates/answerForms.ts';
import type { AnswerTo, GateRule } from '../../engine/gates/engineGates.ts';
import type { Question } from '../../engine/gates/question.ts';
import type { AppliedAnswer } from '../../engine/graph/NodeEngine.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { CodeReview, ReviewRecord, RunWorkspace } from '../ports.ts';
import { beginTask, readyTasks, taskLabel } from '../taskStates.ts';
import type { GraphState, HitlDecisionRecord } from '../types.ts';

const tasks = lateSchema(() =>
  z.exactOptional(z.array(z.string().regex(/^T[1-9]\d*$/, 'Expected T and a number')).min(1)),
);

const namesTasksOnlyInANo = (answer: { approved: boolean; tasks?: string[] }): boolean =>
  !answer.approved || answer.tasks === undefined;

const ONLY_IN_A_NO = { error: 'Only a rejection names tasks', path: ['tasks'] };

/** Of code. `tasks`: which of those shown are done again; the last one when left out. */
export const reviewGate = {
  given: lateSchema(() =>
    approval()
      .extend({ tasks: tasks() })
      .refine(namesTasksOnlyInANo, ONLY_IN_A_NO)
      .refine(hasNoCommentedYes, COMMENTED_YES),
  ),
  recorded: lateSchema(() =>
    recordedApproval().extend({ tasks: tasks() }).refine(namesTasksOnlyInANo, ONLY_IN_A_NO),
  ),
  places: reviewedTasks,
  tally: ({ artifact }) => (artifact as CodeReview).comments ?? null,
  shape: '{ approved: true } or { approved: false, feedback, tasks? }',
  policyName: 'review',
  assertFits: assertReopens,
} satisfies GateRule;

export type ReviewAnswer = AnswerTo<typeof reviewGate>;

/**
 * Refuses a rejection that names a task which is not shown.
 *
 * @throws DevsError `INVALID_ANSWER`
 */
function assertReopens(answer: object, { id, question }: HitlSession): void {
  const { tasks: labels = [] } = answer as { readonly tasks?: readonly string[] };
  const { artifact } = (question ?? {}) as { readonly artifact?: Partial<CodeReview> };
  const shown = (artifact?.taskIds ?? []).map(taskLabel);
  const unknown = labels.find((label) => !shown.includes(label));
  if (unknown === undefined) return;
  throw new DevsError(`Gate "${id}" does not include ${unknown}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Use tasks of this review: ${shown.join(', ')}.`,
    context: { sessionId: id },
  });
}

/** The texts in a review itself; its code is read from the commits that it names. */
function reviewedTasks(artifact: unknown): readonly QuotableSection[] {
  const { tasks: shown = [] } = artifact as Partial<CodeReview>;
  return shown.map(({ taskId, name, criteria }) => {
    const lines = criteria.flatMap(({ criterion, shownBy }) => [
      criterion,
      ...(shownBy === null ? [] : [shownBy]),
    ]);
    return { names: [taskLabel(taskId), taskId], texts: [[name, ...lines].join('\n')] };
  });
}

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

// Decisions of people on code so far, as they are recorded, and the code that they sent back.

type Decisions = Pick<GraphState, 'hitlDecisions'>;

/** A decision on code. */
export type ReviewDecision = HitlDecisionRecord & { readonly review: ReviewRecord };

/** Oldest first. */
export function reviewDecisions({ hitlDecisions }: Decisions): readonly ReviewDecision[] {
  return hitlDecisions.filter((decision): decision is ReviewDecision => decision.review !== undefined);
}

/** Decisions on the code of any of these tasks, oldest first. */
export function reviewsOf(state: Decisions, taskIds: readonly string[]): readonly ReviewDecision[] {
  return reviewDecisions(state).filter(({ review }) => review.taskIds.some((id) => taskIds.includes(id)));
}

/** True when the last human who was shown the task's code approved it. */
export function isCodeApproved(state: Decisions, taskId: string): boolean {
  return reviewsOf(state, [taskId]).at(-1)?.signal.approved === true;
}

/** How often humans sent the task back. */
export function timesReopened(state: Decisions, taskId: string): number {
  return reviewDecisions(state).filter(({ review }) => review.reopened.includes(taskId)).length;
}

/** Bytes of it that agents are shown. */
const REJECTED_BYTES_SHOWN = 32 * 1024;

/**
 * The code of a task that a human sent back last, as it was shown; `null` where none was, where the workspace does not
 * compare, and where the shown commits are no more.
 */
export async function rejectedDiff(
  state: Pick<GraphState, 'hitlDecisions'>,
  taskId: string,
  workspace: RunWorkspace,
): Promise<string | null> {
  const decision = reviewDecisions(state).findLast(({ review }) => review.reopened.includes(taskId));
  if (decision === undefined || workspace.compare === undefined) return null;
  const { from, to } = decision.review;
  try {
    const { diff } = await workspace.compare(from, to, REJECTED_BYTES_SHOWN);
    return diff === '' ? null : diff;
  } catch (error) {
    if (isDevsError(error, 'WORKSPACE_FAILED')) return null;
    throw error;
  }
}
