import { DevsError, type Gate } from '@devs/core';
import { type GateComment, maskAtGate, type QuotableSection } from '@devs/core/internal';
import { usageError } from '../usageError.ts';

/** Between what is quoted and what is said of it. Code has it too: the longest quote that is found counts. */
const ARROW = /\s+=>\s+/g;

/**
 * Comments as they are typed, `[IN[:LINE]: ]QUOTE => TEXT`, hung on what a gate shows. Blanks and line ends of a quote count
 * for one blank: a terminal breaks lines where the text does not.
 *
 * @throws DevsError `QUOTE_NOT_SHOWN`; `CONFIG_INVALID` for what stands in several places, or says nothing.
 */
export function commentsFrom(
  typed: readonly string[],
  gate: Pick<Gate, 'sessionId'>,
  places: readonly QuotableSection[],
): readonly GateComment[] {
  return typed.map((one) => commentFrom(one, gate, places));
}

function commentFrom(
  typed: string,
  { sessionId }: Pick<Gate, 'sessionId'>,
  places: readonly QuotableSection[],
): GateComment {
  const readings = Array.from(typed.matchAll(ARROW), ({ 0: arrow, index }) => ({
    head: typed.slice(0, index).trim(),
    text: typed.slice(index + arrow.length).trim(),
  })).filter(({ head, text }) => head !== '' && text !== '');
  if (readings.length === 0)
    throw usageError(`--comment ${typed} has no quote or no text.`, `Write 'QUOTE => TEXT'.`);
  for (const { head, text } of readings.toReversed()) {
    const [found, ...others] = anchorsOf(head, places);
    if (found === undefined) continue;
    if (others.length > 0) throw ambiguousQuote(head, [found, ...others]);
    return { ...found, text };
  }
  throw new DevsError(`The quote of --comment ${typed} is not in gate ${sessionId.slice(0, 8)}.`, {
    code: 'QUOTE_NOT_SHOWN',
    remedy: `Copy the quote from devs show ${sessionId.slice(0, 8)} --full. For a general comment use --feedback.`,
    context: { sessionId },
  });
}

type QuoteAnchor = Pick<GateComment, 'in' | 'quote' | 'line'>;

/** With the place it names, or else in all of them. */
function anchorsOf(head: string, places: readonly QuotableSection[]): readonly QuoteAnchor[] {
  const named = places.flatMap((place) =>
    place.names
      .filter((name) => name !== '' && head.startsWith(`${name}:`))
      .flatMap((name) => {
        const [, line, quote = ''] = /^(?:(\d+):)?\s*([\s\S]*)$/.exec(head.slice(name.length + 1)) ?? [];
        return anchorIn(place, quote, line === undefined ? undefined : Number(line));
      }),
  );
  return named.length > 0 ? named : places.flatMap((place) => anchorIn(place, head));
}

/** The quote as it stands in a place; its line, where it stands there once. */
function anchorIn(
  { names: [name = ''], texts }: QuotableSection,
  quote: string,
  line?: number,
): readonly QuoteAnchor[] {
  const pattern = patternForQuote(quote);
  if (pattern === null) return [];
  for (const text of [...texts, ...texts.map((each) => maskAtGate(each, { gate: '' }).view)]) {
    const found = Array.from(text.matchAll(pattern), ({ 0: exact, index }) => ({
      quote: exact,
      line: text.slice(0, index).split('\n').length,
    }));
    const [first, ...others] = found.filter((each) => line === undefined || each.line === line);
    if (first === undefined) continue;
    const isOne = line !== undefined || others.length === 0;
    return [{ in: name, quote: first.quote, ...(isOne && { line: first.line }) }];
  }
  return [];
}

function patternForQuote(quote: string): RegExp | null {
  const words = quote.split(/\s+/).filter((word) => word !== '');
  return words.length === 0 ? null : new RegExp(words.map(quotePattern).join(String.raw`\s+`), 'g');
}

/** What displays spell out, `⟨U+202E⟩`, stands for the character; the digest of a hidden place is another one in each process. */
const quotePattern = (word: string): string =>
  word
    .replaceAll(/⟨U\+(10[0-9A-F]{4}|[0-9A-F]{4,5})⟩/g, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16)),
    )
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll(/(\\\[REDACTED:[a-z0-9_]+:\d+:)[0-9a-f]{12}(?=\\\])/g, '$1[0-9a-f]{12}');

function ambiguousQuote(head: string, found: readonly QuoteAnchor[]): DevsError {
  const names = found.slice(0, 5).map(({ in: place }) => place || "''");
  return usageError(
    `"${head}" is in several places: ${names.join(', ')}${found.length > names.length ? ', …' : ''}.`,
    `Name one of them: --comment '${names[0]}: ${head} => …'.`,
  );
}
