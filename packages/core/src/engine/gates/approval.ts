import * as z from 'zod';

// A yes or no, the answer of most gates.

/** Longest free text of an answer, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 64 * 1024;

/** A free text of an answer. */
export const answerText = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= MAX_TEXT_BYTES, { error: 'Longer than 64 KiB' });

const optionalText = z.exactOptional(answerText);

/** Who decided and when is added when the recorded answer is handed to the node; a decider does not send it. */
export const approval = z.strictObject({ approved: z.boolean(), feedback: optionalText });
export const recordedApproval = approval.extend({ approvedBy: optionalText, approvedAt: optionalText });

export const APPROVAL_SHAPE = '{ approved: true } or { approved: false, feedback }';
