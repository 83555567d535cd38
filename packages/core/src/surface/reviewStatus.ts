import { reviewDecisions } from '../orchestration/review/reviewDecisions.ts';
import type { GraphState } from '../orchestration/types.ts';
import type { ReviewStatus } from './views.ts';

/** How the code of a run is reviewed; `null` also for a run of an own graph, which has no project. */
export function reviewStatus(
  state: Pick<GraphState, 'hitlDecisions'> & Partial<GraphState>,
): ReviewStatus | null {
  const scope = state.projectConfig?.review;
  if (scope === undefined) return null;
  const decisions = reviewDecisions(state);
  const approved = decisions.filter(({ signal }) => signal.approved).length;
  return { scope, approved, rejected: decisions.length - approved };
}
