import type { GateComment, LastComment, QuotableSection } from '@devs/core/internal';

/** Where a comment hangs: what it quotes of a text, and the line on which that begins, from 1. */
export type Anchor = Required<Omit<GateComment, 'text'>>;

/** Characters of a quote; the engine takes 4 KiB. */
const MOST_QUOTED = 1000;

/** The whole of a line, or as much of it as is quoted. `null` for one with nothing on it. */
export function lineAnchor(place: string, line: number, text: string): Anchor | null {
  if (text.trim() === '') return null;
  return { in: place, quote: text.slice(0, MOST_QUOTED), line };
}

/**
 * What was selected of some lines of a text, as it is written there. Rendered text has no marks: where what was selected does
 * not stand in the source like that, the first of those lines is quoted.
 *
 * @param lines - `from` and up to `to`, from 1.
 */
export function selectionAnchor(
  { place, text }: { readonly place: string; readonly text: string },
  selected: string,
  { from, to }: { readonly from: number; readonly to: number },
): Anchor | null {
  const all = text.split('\n');
  const before = all.slice(0, from - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const within = all.slice(from - 1, to).join('\n');
  const quote = selected.trim().slice(0, MOST_QUOTED);
  const at = quote === '' ? -1 : within.indexOf(quote);
  if (at >= 0) {
    const line = text.slice(0, before + at).split('\n').length;
    return { in: place, quote, line };
  }
  const first = all.findIndex((line, index) => index >= from - 1 && index < to && line.trim() !== '');
  return first < 0 ? null : lineAnchor(place, first + 1, all[first] ?? '');
}

/** The line beside which a comment on the version before is shown: where its quote stands now, else where it stood. */
export function lineNow({ quote, line = 1 }: Pick<LastComment, 'quote' | 'line'>, text: string): number {
  const lines = [...occurrences(text, quote)].map((at) => text.slice(0, at).split('\n').length);
  const [nearest] = lines.toSorted((a, b) => Math.abs(a - line) - Math.abs(b - line));
  return nearest ?? Math.min(line, text.split('\n').length);
}

function* occurrences(text: string, quote: string): Generator<number> {
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) yield at;
}

/** Of the lines at which blocks begin, the one in which a line is shown. */
export const blockOf = (starts: readonly number[], line: number): number =>
  starts.findLast((start) => start <= line) ?? starts[0] ?? line;

export const placeText = (places: readonly QuotableSection[], name: string): string | null =>
  places.find(({ names }) => names.includes(name))?.texts[0] ?? null;
