/** Keyword, string, number, function, type, regular expression, comment, punctuation. */
export type Tone = 'k' | 's' | 'n' | 'f' | 't' | 'r' | 'c' | 'p';

/** A part of a line. */
export interface Piece {
  readonly text: string;
  /** `null` for the colour of text. */
  readonly tone: Tone | null;
  readonly isMarked?: boolean;
}

/** A line in pieces, cut where a mark begins or ends. Pure: the text stays the same. */
export function markPieces(
  pieces: readonly Piece[],
  marks: readonly { readonly from: number; readonly to: number }[],
): readonly Piece[] {
  if (marks.length === 0) return pieces;
  let start = 0;
  return pieces.flatMap(({ text, tone }) => {
    const end = start + text.length;
    const cuts = marks.flatMap(({ from, to }) => [from, to]).filter((cut) => cut > start && cut < end);
    const edges = [start, ...cuts, end];
    const parts = edges.slice(0, -1).map((from, at): Piece => {
      const to = edges[at + 1] ?? end;
      const isMarked = marks.some((mark) => mark.from <= from && to <= mark.to);
      return { text: text.slice(from - start, to - start), tone, ...(isMarked && { isMarked }) };
    });
    start = end;
    return parts;
  });
}
