import type { HitlDecisionRecord } from '../../orchestration/types.ts';

/**
 * Decisions on code that say nothing about the given tasks any more: an approval holds for exactly the code that was
 * shown. All decisions are kept, for their number names the next question.
 */
export function withoutApprovals(
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
