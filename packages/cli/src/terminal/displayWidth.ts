/** A character as it is seen: with what is put on top of it, a flag, an emoji with its shade. */
const CHARACTER =
  /\p{RI}\p{RI}|\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|[^\p{Mn}\p{Me}\u1160-\u11ff]?[\p{Mn}\p{Me}\u1160-\u11ff]*/gsu;

/** What takes two columns: emoji, and East Asian characters that are wide or full width. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{RI}{2}|[\u1100-\u115f\u2329\u232a\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}])/u;

/** What takes none where it stands alone. */
const MARK = /^[\p{Mn}\p{Me}\u1160-\u11ff]/u;

const ASCII = /^[\x20-\x7e]*$/;

/** Columns that a text in one line takes on a terminal. It holds nothing that cannot be seen. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const [character] of text.matchAll(CHARACTER)) width += widthOf(character);
  return width;
}

/** A text in pieces of at most so many columns; no character is halved, however narrow they are. */
export function* splitByWidth(text: string, columns: number): Generator<string> {
  let [from, width] = [0, 0];
  for (const { 0: character, index } of text.matchAll(CHARACTER)) {
    const wide = widthOf(character);
    if (index > from && width + wide > columns) {
      yield text.slice(from, index);
      [from, width] = [index, 0];
    }
    width += wide;
  }
  yield text.slice(from);
}

function widthOf(character: string): number {
  if (character === '' || MARK.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

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
