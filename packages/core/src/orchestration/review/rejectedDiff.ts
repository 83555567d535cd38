import { isDevsError } from '../../errors/DevsError.ts';
import type { RunWorkspace } from '../ports.ts';
import type { GraphState } from '../types.ts';
import { reviewDecisions } from './reviewDecisions.ts';

/** Bytes of it that agents are shown. */
const MAX_BYTES = 32 * 1024;

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
    const { diff } = await workspace.compare(from, to, MAX_BYTES);
    return diff === '' ? null : diff;
  } catch (error) {
    if (isDevsError(error, 'WORKSPACE_FAILED')) return null;
    throw error;
  }
}
