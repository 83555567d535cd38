import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import {
  approval,
  COMMENTED_YES,
  hasNoCommentedYes,
  recordedApproval,
} from '../../engine/gates/answerForms.ts';
import type { AnswerTo, GateRule } from '../../engine/gates/answers.ts';
import type { QuotableSection } from '../../engine/gates/comments.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { CodeReview } from '../CodeReview.ts';
import { taskLabel } from '../taskStates.ts';

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

/** What a review shows itself; the code is read from the commits that it names. */
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
