import { DevsError } from '../../errors/DevsError.ts';
import { maskAtGate } from '../../masking/maskAtGate.ts';
import type { HitlSession } from '../../state/hitlSession.ts';
import { commentsOf, formatPlace, type GateComment } from './comments.ts';
import { shortenText } from './summarizeDecision.ts';

// Comments hang on quoted text. It is looked for as it was recorded, and as displays print it, with places of it hidden.

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
