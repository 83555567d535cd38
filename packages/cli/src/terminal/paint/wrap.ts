import { displayWidth, splitByWidth } from '../displayWidth.ts';

/** Where a piece of a text begins and ends. */
export type TextRange = readonly [from: number, to: number];

export interface WrapRoom {
  /** Columns of the first line. */
  readonly first: number;
  /** Columns of those that follow. @defaultValue as many */
  readonly rest?: number;
  /** Characters at the beginning behind which it is not broken: the mark of an item stays with its first word. */
  readonly lead?: number;
  /** Whether a word that is longer than a line is broken, too. @defaultValue no: it can be copied */
  readonly breaksWords?: boolean;
}

/** The lines of a text that is broken to fit, at spaces; those it is broken at are in none of them. */
export function wrap(
  text: string,
  { first, rest = first, lead = 0, breaksWords = false }: WrapRoom,
): readonly TextRange[] {
  const lines: TextRange[] = [];
  let [from, to, width] = [0, 0, 0];
  for (const [start, end] of wordRanges(
    text,
    breaksWords ? Math.min(first, rest) : Number.POSITIVE_INFINITY,
  )) {
    const room = lines.length === 0 ? first : rest;
    const [gap, wide] = [start - to, displayWidth(text.slice(start, end))];
    if (to > Math.max(from, lead) && width + gap + wide > room) {
      lines.push([from, to]);
      [from, width] = [start, wide];
    } else {
      width += gap + wide;
    }
    to = end;
  }
  return [...lines, [from, to]];
}

function* wordRanges(text: string, longest: number): Generator<TextRange> {
  for (const { 0: word, index } of text.matchAll(/[^ ]+/g)) {
    let from = index;
    for (const piece of Number.isFinite(longest) ? splitByWidth(word, longest) : [word]) {
      yield [from, from + piece.length];
      from += piece.length;
    }
  }
}
