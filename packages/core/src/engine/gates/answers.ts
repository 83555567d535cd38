import { z } from 'zod';
import { DevsError } from '../../errors/DevsError.ts';
import {
  documentsEdit,
  isEdit,
  planEdit,
  recordedDocumentsEdit,
  recordedPlanEdit,
} from '../../orchestration/gates/gateEdit.ts';
import type { HitlSessionKind } from '../../state/hitlSession.ts';

/** Longest free text of an answer, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 64 * 1024;

const text = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= MAX_TEXT_BYTES, { error: 'Longer than 64 KiB' });

const optionalText = z.exactOptional(text);
const optionalCount = z.exactOptional(z.int().positive());

// Who decided and when is added when the recorded answer is handed to the node; a decider does not send it.
const approval = z.strictObject({ approved: z.boolean(), feedback: optionalText });
const recordedApproval = approval.extend({ approvedBy: optionalText, approvedAt: optionalText });

const tasks = z.exactOptional(z.array(z.string().regex(/^T[1-9]\d*$/, 'Expected T and a number')).min(1));
const namesTasksOnlyInANo = (answer: { approved: boolean; tasks?: string[] }): boolean =>
  !answer.approved || answer.tasks === undefined;
const ONLY_IN_A_NO = { error: 'Only a rejection names tasks', path: ['tasks'] };
/** `tasks`: which of those shown are done again; the last one when left out. */
const review = approval.extend({ tasks }).refine(namesTasksOnlyInANo, ONLY_IN_A_NO);
const recordedReview = recordedApproval.extend({ tasks }).refine(namesTasksOnlyInANo, ONLY_IN_A_NO);

const taskFailure = z.strictObject({
  action: z.enum(['retry', 'skip', 'abort']),
  /** For the next attempts. */
  guidance: optionalText,
  /** For the record: why it is given up. */
  reason: optionalText,
});
const recursionLimit = z.strictObject({ action: z.enum(['continue', 'abort']), reason: optionalText });
const budget = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('abort'), reason: optionalText }),
  z
    .strictObject({
      action: z.literal('raise'),
      usd: z.exactOptional(z.number().positive()),
      tokens: optionalCount,
      calls: optionalCount,
      ms: optionalCount,
    })
    .refine(({ usd, tokens, calls, ms }) => (usd ?? tokens ?? calls ?? ms) !== undefined, {
      error: 'Names none of usd, tokens, calls, ms',
    }),
]);

const RECORDED = {
  design_approval: z.union([recordedApproval, recordedDocumentsEdit]),
  dag_approval: z.union([recordedApproval, recordedPlanEdit]),
  review: recordedReview,
  node_gate: recordedApproval,
  task_failure: taskFailure,
  recursion_limit: recursionLimit,
  budget,
} satisfies Record<HitlSessionKind, z.ZodType>;

const DECIDABLE: Record<HitlSessionKind, z.ZodType> = {
  ...RECORDED,
  design_approval: approval,
  dag_approval: approval,
  review,
  node_gate: approval,
};

/** Apart from the decisions: a union would not name the field that is wrong. */
const EDITS: Partial<Record<HitlSessionKind, z.ZodType>> = {
  design_approval: documentsEdit,
  dag_approval: planEdit,
};

/** The answer a kind of session takes. */
export type AnswerOf<Kind extends HitlSessionKind> = Readonly<z.infer<(typeof RECORDED)[Kind]>>;

/** The answer of any kind of session. */
export type Answer = { readonly [Kind in HitlSessionKind]: AnswerOf<Kind> }[HitlSessionKind];

/**
 * Checks a decider's answer before anything is written: an invalid one that reached its node would be stored and
 * replayed on every resume.
 *
 * @throws DevsError `INVALID_ANSWER`; `FEEDBACK_REQUIRED` for a rejection that does not say why.
 */
export function parseAnswer<Kind extends HitlSessionKind>(kind: Kind, answer: unknown): AnswerOf<Kind> {
  const given = withoutUndefined(answer);
  const schema = (isEdit(given) && EDITS[kind]) || DECIDABLE[kind];
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw invalidAnswer(kind, parsed.error);
  if (isUnexplainedRejection(parsed.data as Answer)) throw feedbackRequired(kind);
  return parsed.data as AnswerOf<Kind>;
}

/** Whether a recorded answer fits the kind of question it came to. Pure: a node asks again when it does not. */
export function isAnswer<Kind extends HitlSessionKind>(kind: Kind, value: unknown): value is AnswerOf<Kind> {
  return RECORDED[kind].safeParse(value).success;
}

function isUnexplainedRejection(answer: Answer): boolean {
  return 'approved' in answer && !answer.approved && (answer.feedback ?? '').trim() === '';
}

/** `{ feedback: undefined }` says the same as `{}`; JSON has no word for it. */
function withoutUndefined(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));
}

/** Names the fields, never their values: an answer may hold what must not be logged. */
function invalidAnswer(kind: HitlSessionKind, { issues }: z.ZodError): DevsError {
  const found = issues.map(({ path, message }) => `${path.join('.') || 'answer'}: ${message}`).join('; ');
  return new DevsError(`This is no answer to a session of kind ${kind}. ${found}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Answer with ${SHAPES[kind]}.`,
    context: { kind },
  });
}

function feedbackRequired(kind: HitlSessionKind): DevsError {
  return new DevsError(`A rejection of kind ${kind} has to say what should change.`, {
    code: 'FEEDBACK_REQUIRED',
    remedy: 'Send the rejection again with feedback.',
    context: { kind },
  });
}

const APPROVAL_SHAPE = '{ approved: true } or { approved: false, feedback }';

const SHAPES: Readonly<Record<HitlSessionKind, string>> = {
  design_approval: `${APPROVAL_SHAPE}, or change it with { action: 'edit', documents }`,
  dag_approval: `${APPROVAL_SHAPE}, or change it with { action: 'edit', plan }`,
  review: '{ approved: true } or { approved: false, feedback, tasks? }',
  node_gate: APPROVAL_SHAPE,
  task_failure: "{ action: 'retry', guidance? } or { action: 'skip' | 'abort', reason? }",
  recursion_limit: "{ action: 'continue' } or { action: 'abort', reason? }",
  budget: "{ action: 'raise', usd?, tokens?, calls?, ms? } or { action: 'abort', reason? }",
};
