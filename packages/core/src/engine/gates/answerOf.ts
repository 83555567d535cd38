import { isEdit } from '../../orchestration/gates/gateEdit.ts';
import type { HitlSession } from '../../state/hitlSession.ts';

/** What the human said, with who said it and when, for the record the node makes. */
export function answerOf({ decision, principal, decidedAt }: HitlSession): Record<string, unknown> {
  const answer = decision as Record<string, unknown>;
  if (principal === null || decidedAt === null) return answer;
  const at = new Date(decidedAt).toISOString();
  if (isEdit(answer)) return { ...answer, editedBy: principal.id, editedAt: at };
  return 'approved' in answer ? { ...answer, approvedBy: principal.id, approvedAt: at } : answer;
}
