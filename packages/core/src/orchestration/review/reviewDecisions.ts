import type { ReviewRecord } from '../CodeReview.ts';
import type { GraphState, HitlDecisionRecord } from '../types.ts';

// What humans have decided about code so far. Pure readings of the recorded decisions.

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
