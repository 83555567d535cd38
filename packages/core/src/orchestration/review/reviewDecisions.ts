import { isDevsError } from '../../errors/DevsError.ts';
import type { ReviewRecord } from '../CodeReview.ts';
import type { RunWorkspace } from '../ports.ts';
import type { GraphState, HitlDecisionRecord } from '../types.ts';

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
