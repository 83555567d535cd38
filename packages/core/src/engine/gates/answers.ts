import type * as z from 'zod';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession, HitlSessionKind } from '../../state/hitlSession.ts';
import { isBlank } from '../../values/blankText.ts';
import { commentsOf } from './comments.ts';
import { type AnswerTo, type GateRule, type GateRules, ruleOf } from './GateRule.ts';

/**
 * Checks a decider's answer before anything is written: an invalid one that reached its node would be stored and
 * replayed on every resume.
 *
 * @throws DevsError `INVALID_ANSWER`; `FEEDBACK_REQUIRED` for a rejection that does not say why.
 */
export function parseAnswer(rules: GateRules, kind: HitlSessionKind, answer: unknown): object {
  const rule = ruleOf(rules, kind);
  const given = withoutUndefined(answer);
  const parsed = answerForm(given, rule)().safeParse(given);
  if (!parsed.success) throw invalidAnswer(kind, rule, parsed.error);
  const known = parsed.data as object;
  if (isUnexplainedRejection(known)) throw feedbackRequired(kind);
  return known;
}

/** A union of the forms would not name the field that is wrong. */
function answerForm(given: unknown, { given: plain, edit, forms = {} }: GateRule): GateRule['given'] {
  if (isEdit(given) && edit !== undefined) return edit;
  const other = Object.keys(forms).find((name) => Object.hasOwn(Object(given) as object, name));
  return (other === undefined ? undefined : forms[other]) ?? plain;
}

/** Whether a recorded answer fits the kind of question it came to. Pure: a node asks again when it does not. */
export function isAnswer<Rule extends GateRule>(rule: Rule, value: unknown): value is AnswerTo<Rule> {
  return rule.recorded().safeParse(value).success;
}

/** Whether an answer is a human's own version of what was shown, and not a decision on it. */
export function isEdit(answer: unknown): answer is { readonly action: 'edit' } {
  return (answer as { readonly action?: unknown } | null)?.action === 'edit';
}

/** What the human said, with who said it and when, for the record the node makes. */
export function answerWithAuthor({ decision, principal, decidedAt }: HitlSession): Record<string, unknown> {
  const answer = decision as Record<string, unknown>;
  if (principal === null || decidedAt === null) return answer;
  const at = new Date(decidedAt).toISOString();
  if (isEdit(answer)) return { ...answer, editedBy: principal.id, editedAt: at };
  return 'approved' in answer ? { ...answer, approvedBy: principal.id, approvedAt: at } : answer;
}

function isUnexplainedRejection(answer: {
  readonly approved?: unknown;
  readonly feedback?: string;
}): boolean {
  const says = !isBlank(answer.feedback ?? '') || commentsOf(answer).length > 0;
  return answer.approved === false && !says;
}

/** `{ feedback: undefined }` says the same as `{}`; JSON has no word for it. */
function withoutUndefined(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));
}

/** Names the fields, never their values: an answer may hold what must not be logged. */
function invalidAnswer(kind: HitlSessionKind, { shape }: GateRule, { issues }: z.ZodError): DevsError {
  const found = issues.map(({ path, message }) => `${path.join('.') || 'answer'}: ${message}`).join('; ');
  return new DevsError(`A gate of kind ${kind} does not accept this answer. ${found}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Answer with ${shape}.`,
    context: { kind },
  });
}

function feedbackRequired(kind: HitlSessionKind): DevsError {
  return new DevsError(`A rejection of kind ${kind} needs feedback.`, {
    code: 'FEEDBACK_REQUIRED',
    remedy: 'Reject it again, with feedback that describes the change.',
    context: { kind },
  });
}
