import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/hitlSession.ts';
import { taskLabel } from '../nodes/plan.ts';
import type { CodeReview } from './CodeReview.ts';

/**
 * Refuses a rejection that names a task which is not shown, before it is recorded.
 *
 * @throws DevsError `INVALID_ANSWER`
 */
export function assertReopens(answer: object, { id, question }: HitlSession): void {
  const { tasks: labels = [] } = answer as { readonly tasks?: readonly string[] };
  const { artifact } = (question ?? {}) as { readonly artifact?: Partial<CodeReview> };
  const shown = (artifact?.taskIds ?? []).map(taskLabel);
  const unknown = labels.find((label) => !shown.includes(label));
  if (unknown === undefined) return;
  throw new DevsError(`Session "${id}" does not show ${unknown}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Name tasks of this review: ${shown.join(', ')}.`,
    context: { sessionId: id },
  });
}
