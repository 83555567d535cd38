import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { isBlank } from '../../values/blankText.ts';

// What a rejection says about single places of what was shown. Part of the answer, and so of the decision.

/** What somebody says about a text that a gate shows. */
export interface GateComment {
  /**
   * Where it stands: a document by its type (`TAS`), a task, epic or requirement by its label (`T3`), all of them by
   * their ids too; a file of a code review by its path; of a declared gate a member of what it shows, `''` for all of it.
   */
  readonly in: string;
  /** Exactly as it stands there. */
  readonly quote: string;
  /** On which of its lines, from 1, the quote begins. */
  readonly line?: number;
  readonly text: string;
}

const MAX_COMMENTS = 200;
/** KiB of UTF-8, over all of them. */
const MAX_TOGETHER = 128;

const textUpTo = (kib: number) =>
  z.string().refine((value) => Buffer.byteLength(value) <= kib * 1024, { error: `Longer than ${kib} KiB` });
const nonBlankText = (kib: number) => textUpTo(kib).refine((value) => !isBlank(value), { error: 'Is empty' });

const commentSchema = lateSchema(() =>
  z.strictObject({
    in: textUpTo(4),
    quote: nonBlankText(4),
    line: z.exactOptional(z.int().positive()),
    text: nonBlankText(8),
  }),
);

const commentBytes = (given: readonly GateComment[]): number =>
  given.reduce((sum, each) => sum + Buffer.byteLength(each.in + each.quote + each.text), 0);

/** Counted before any is looked at: what is refused names each that is wrong. */
export const comments = lateSchema(() =>
  z
    .array(z.unknown())
    .max(MAX_COMMENTS, { error: `More than ${MAX_COMMENTS}` })
    .pipe(z.array(commentSchema()))
    .refine((given) => commentBytes(given) <= MAX_TOGETHER * 1024, {
      error: `Longer than ${MAX_TOGETHER} KiB together`,
    }),
);

/** The comments of an answer in the form of its gate. */
export function commentsOf(answer: object): readonly GateComment[] {
  return (answer as { readonly comments?: readonly GateComment[] }).comments ?? [];
}

/** What a rejection says. */
export interface Rejection {
  readonly feedback?: string | undefined;
  readonly comments?: readonly GateComment[] | undefined;
}

/**
 * A rejection as it is told to whoever does the work again: the feedback, then each comment below what it quotes.
 * `null` where nothing was said.
 */
export function rejectionText({ feedback, comments: given = [] }: Rejection): string | null {
  const isSaid = feedback !== undefined && !isBlank(feedback);
  const parts = [...(isSaid ? [feedback] : []), ...given.map(commentText)];
  return parts.length === 0 ? null : parts.join('\n\n');
}

function commentText(given: GateComment): string {
  const quoted = given.quote.split('\n').map((line) => `> ${line}`);
  return [`On ${formatPlace(given)}:`, ...quoted, given.text].join('\n');
}

/** `TAS, line 3` */
export function formatPlace({ in: place, line }: Pick<GateComment, 'in' | 'line'>): string {
  const name = place === '' ? 'what was shown' : place.replaceAll(/\s+/g, ' ');
  return line === undefined ? name : `${name}, line ${line}`;
}
