import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { comments } from './comments.ts';

// A yes or no, the answer of most gates.

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
