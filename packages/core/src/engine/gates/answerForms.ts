// Forms of answers that several kinds of gates share: a yes or no, a text, any plain JSON, a value that fits a schema.

import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { comments } from './comments.ts';

/** Longest free text of an answer, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 64 * 1024;

/** A free text of an answer. */
export const answerText = lateSchema(() =>
  z.string().refine((value) => Buffer.byteLength(value) <= MAX_TEXT_BYTES, { error: 'Longer than 64 KiB' }),
);

/** A free text that may be left out. */
export const optionalText = lateSchema(() => z.exactOptional(answerText()));

/** Who decided and when is added when the recorded answer is handed to the node; a decider does not send it. */
export const approval = lateSchema(() =>
  z.strictObject({
    approved: z.boolean(),
    feedback: optionalText(),
    comments: z.exactOptional(comments()),
  }),
);
export const recordedApproval = lateSchema(() =>
  approval().extend({ approvedBy: optionalText(), approvedAt: optionalText() }),
);

/** Nobody works on what was approved: a comment beside a yes would be read by nobody. */
export const hasNoCommentedYes = (answer: { approved: boolean; comments?: unknown }): boolean =>
  !answer.approved || answer.comments === undefined;
export const COMMENTED_YES = { error: 'Only a rejection has comments', path: ['comments'] };

/** A yes or no as a decider sends it. */
export const givenApproval = lateSchema(() => approval().refine(hasNoCommentedYes, COMMENTED_YES));

export const APPROVAL_SHAPE = '{ approved: true } or { approved: false, feedback }';

/** Levels of arrays and objects; a checkpoint puts some around it. */
const MAX_VALUE_DEPTH = 100;

/** Any plain JSON that an answer may hold; how large it may be is another question: `assertAnswerSize`. */
export const storable = lateSchema(() =>
  z.unknown().superRefine((value, { addIssue }) => {
    const problem = problemOf(value);
    if (problem !== null) addIssue({ code: 'custom', message: problem });
  }),
);

function problemOf(value: unknown): string | null {
  if (value === undefined) return 'Missing';
  try {
    if (isDeeper(value, MAX_VALUE_DEPTH)) return `Nested deeper than ${MAX_VALUE_DEPTH} levels`;
    canonicalJson(value);
    return null;
  } catch (error) {
    if (isDevsError(error)) return error.message.replace(/\.$/, '');
    return 'Reading it throws an error';
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/**
 * Refuses a value that the `responseSchema` of its question does not take. A schema that cannot be read is not checked:
 * the gate could never be answered.
 *
 * @throws DevsError `INVALID_ANSWER` naming the place.
 */
export function assertFitsSchema(answer: object, { id, question }: HitlSession): void {
  const { responseSchema } = (question ?? {}) as { readonly responseSchema?: unknown };
  const schema = readSchema(responseSchema);
  const parsed = schema?.safeParse((answer as { readonly value: unknown }).value);
  if (parsed?.success !== false) return;
  throw unfit(id, parsed.error.issues);
}

interface SchemaIssue {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** Names the places, never what they hold. */
export function unfit(sessionId: string, issues: readonly SchemaIssue[]): DevsError {
  const found = issues.map(({ path, message }) => `${['value', ...path].map(String).join('.')}: ${message}`);
  return new DevsError(`The value does not match the schema of gate "${sessionId}". ${found.join('; ')}.`, {
    code: 'INVALID_ANSWER',
    remedy: 'Answer with { value: … } that matches the schema of the gate.',
    context: { sessionId },
  });
}

function readSchema(responseSchema: unknown): z.ZodType | null {
  if (typeof responseSchema !== 'object' || responseSchema === null) return null;
  try {
    return z.fromJSONSchema(responseSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return null; // a keyword it does not know
  }
}
