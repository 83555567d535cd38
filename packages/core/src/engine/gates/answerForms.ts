import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { maskAtGate } from '../../masking/maskAtGate.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { isBlank } from '../../masking/visibleText.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { StepStore } from '../../state/steps/StepStore.ts';
import type { StepKey } from '../../state/steps/stepRecords.ts';
import { canonicalJson, sha256Hex } from '../../values/canonicalJson.ts';
import {
  asDecisions,
  decisionsProblem,
  type MiddlewareQuestion,
  middlewareQuestion,
} from './middlewareQuestion.ts';

// Forms of answers that several kinds of gates share.
//
// Comments on single places of an artifact: part of the answer, and so of the decision. A comment quotes the text that it is
// about. The quote is searched in the text as it was recorded, and as displays print it, with places of it hidden.

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
function formatPlace({ in: place, line }: Pick<GateComment, 'in' | 'line'>): string {
  const name = place === '' ? 'what was shown' : place.replaceAll(/\s+/g, ' ');
  return line === undefined ? name : `${name}, line ${line}`;
}

const MAX_WORDS = 200;

/** A text as the story tells it: one line, masked by the broad rules before it is cut, since half a secret has no shape. */
export function shortenText(text: string): string {
  const line = maskSensitiveData(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= MAX_WORDS ? line : `${line.slice(0, MAX_WORDS - 1)}…`;
}

/** A text that a gate shows. */
export interface QuotableSection {
  /** Whom people know it by, the first one best. */
  readonly names: readonly string[];
  /** As it stands now; after that what else is shown of it, such as a file before it was changed. */
  readonly texts: readonly [string, ...string[]];
}

/** The texts that may be quoted from an artifact. */
export type QuotableSections = (artifact: unknown) => readonly QuotableSection[];

/**
 * What became of quoted text in the next round. `unchanged`: it stands there as often as it did. `gone`: so is the
 * document, task or file that it stood in. `unknown`: the code cannot be read here.
 */
export type QuoteStatus = 'unchanged' | 'changed' | 'gone' | 'unknown';

/** Names that a refusal lists. */
const NAMES_TOLD = 10;

export const placeNamed = (places: readonly QuotableSection[], name: string): QuotableSection | null =>
  places.find(({ names }) => names.includes(name)) ?? null;

/** What the question of a session shows itself. */
export function quotableSectionsIn(
  { question }: Pick<HitlSession, 'question'>,
  places: QuotableSections = () => [],
): readonly QuotableSection[] {
  return places((question as { readonly artifact?: unknown } | null)?.artifact ?? null);
}

/**
 * Refuses comments on what is not shown.
 *
 * @param read - Called where there are comments.
 * @throws DevsError `QUOTE_NOT_SHOWN` naming the first of them.
 */
export function assertQuoted(
  answer: object,
  session: HitlSession,
  read: () => readonly QuotableSection[],
): void {
  const given = commentsOf(answer);
  const places = given.length === 0 ? [] : read();
  for (const [index, comment] of given.entries()) {
    const place = placeNamed(places, comment.in);
    if (place?.texts.some((text) => isQuoted(comment, text))) continue;
    const what =
      place === null
        ? `is about "${shortenText(comment.in)}", which is not in gate "${session.id}"`
        : `quotes a text that is not in ${shortenText(formatPlace(comment))}: "${shortenText(comment.quote)}"`;
    const names = places.slice(0, NAMES_TOLD).map(({ names: [name = ''] }) => name || "''");
    throw new DevsError(`Comment ${index + 1} ${what}.`, {
      code: 'QUOTE_NOT_SHOWN',
      remedy:
        names.length === 0
          ? 'Send it as feedback: this gate has no text to quote.'
          : `Quote an exact text of the gate, from ${names.join(', ')}${places.length > NAMES_TOLD ? ', …' : ''}.`,
      context: { sessionId: session.id, comment: index + 1 },
    });
  }
}

function isQuoted(comment: GateComment, text: string): boolean {
  return (
    standsIn(comment, text) || standsIn({ ...comment, quote: undigested(comment.quote) }, displayedText(text))
  );
}

/** As displays print it, but for digests: whoever quotes one may have read it from another process. */
const displayedText = (text: string): string => undigested(maskAtGate(text, { gate: '' }).view);

const undigested = (text: string): string =>
  text.replaceAll(/(\[REDACTED:[a-z0-9_]{1,32}:\d{1,8}):[0-9a-f]{12}(?=\])/g, '$1');

function standsIn({ quote, line }: GateComment, text: string): boolean {
  if (line === undefined) return text.includes(quote);
  const start = startOfLine(text, line);
  if (start === null) return false;
  const end = text.indexOf('\n', start);
  const at = text.indexOf(quote, start);
  return at >= 0 && (end < 0 || at <= end);
}

/** Offset at which a line begins; `null` where there are fewer. */
function startOfLine(text: string, line: number): number | null {
  let start = 0;
  for (let number = 1; number < line; number += 1) {
    const end = text.indexOf('\n', start);
    if (end < 0) return null;
    start = end + 1;
  }
  return start;
}

/** Comments of the last rejection. */
export interface CommentTally {
  /** Those whose text has changed. */
  readonly answered: number;
  readonly total: number;
}

/**
 * Whether quoted text still stands where it stood. Text that was no more when it was quoted (lines that a change had
 * removed) has changed once it is back.
 */
export function sinceQuoted(
  quote: string,
  before: QuotableSection | null,
  now: QuotableSection | null,
): QuoteStatus {
  if (now === null) return 'gone';
  const [then, still] = [timesIn(before?.texts[0] ?? quote, quote), timesIn(now.texts[0], quote)];
  const isChanged = then === 0 ? still > 0 : still < then;
  return isChanged ? 'changed' : 'unchanged';
}

function timesIn(text: string, quote: string): number {
  return Math.max(countOccurrences(text, quote), countOccurrences(displayedText(text), undigested(quote)));
}

function countOccurrences(text: string, quote: string): number {
  let count = 0;
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + quote.length)) count += 1;
  return count;
}

/** A question at a gate with its answer, as it is recorded. */
export interface RecordedExchange {
  readonly question: string;
  readonly answer: string;
  /** Such as `human:ada`. */
  readonly principal: string;
}

/** An exchange as it is read back. */
export interface GateExchange extends RecordedExchange {
  /** ISO 8601, UTC. */
  readonly answeredAt: string;
}

// LangGraph's ids of tasks are UUIDs: no visit has a step in such a place.
const PLACE = 'ask';

/** The same question at the same gate is the same step: it is paid for once. @param question - As it is recorded. */
export function exchangeKey(threadId: string, sessionId: string, question: string): StepKey {
  return { threadId, lgTaskId: `${PLACE}/${sessionId}`, name: sha256Hex(question) };
}

/** What was asked and answered at a gate, oldest first. */
export function exchangesAt(threadId: string, sessionId: string, steps: StepStore): readonly GateExchange[] {
  return steps
    .listIn(threadId, `${PLACE}/${sessionId}`)
    .flatMap((key) => {
      const step = steps.find(key);
      return step?.state === 'done' ? [step] : [];
    })
    .toSorted((a, b) => a.finishedAt - b.finishedAt)
    .map(({ result, finishedAt }) => ({
      ...(result as RecordedExchange),
      answeredAt: new Date(finishedAt).toISOString(),
    }));
}

/** Gives up questions whose process died: nobody else is asked while a run is held. @param steps - Of the holder. */
export function abandonQuestions(threadId: string, steps: StepStore): void {
  steps.abandonIn(threadId, PLACE);
}

// A yes or no, a text, any plain JSON, a value that fits a schema.

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

/** The shape of an answer to LangChain's `humanInTheLoopMiddleware`. */
const DECISIONS_SHAPE = "{ value: { decisions: [{ type: 'approve' }] } }, with one decision for each action";

/**
 * Refuses what the node of an `interrupt()` is known not to take: it would throw at the recorded answer each time.
 *
 * @throws DevsError `INVALID_ANSWER` naming the place.
 */
export function assertFitsInterrupt(answer: object, session: HitlSession): void {
  assertFitsSchema(answer, session);
  const asked = askedByMiddleware(session.question);
  if (asked === null) return;
  const problem = decisionsProblem(asked, (answer as { readonly value: unknown }).value);
  if (problem !== null) throw unfit(session.id, [problem], DECISIONS_SHAPE);
}

/** Reads `{ approved }` at a question of LangChain's middleware as one decision for each of its actions. */
export function interruptAnswer(answer: unknown, { question }: HitlSession): unknown {
  const asked = askedByMiddleware(question);
  return asked === null ? answer : asDecisions(asked, answer);
}

const askedByMiddleware = (question: unknown): MiddlewareQuestion | null =>
  middlewareQuestion(((question ?? {}) as { readonly artifact?: unknown }).artifact);

interface SchemaIssue {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** Names the places, never what they hold. */
export function unfit(
  sessionId: string,
  issues: readonly SchemaIssue[],
  shape = '{ value: … } that matches the schema of the gate',
): DevsError {
  const found = issues.map(({ path, message }) => `${['value', ...path].map(String).join('.')}: ${message}`);
  return new DevsError(`The value does not match the schema of gate "${sessionId}". ${found.join('; ')}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Answer with ${shape}.`,
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
