import { ALPHANUMERIC, BASE64, RUN } from './fastFind.ts';
import type { Work } from './inTurns.ts';
import { redacted } from './MaskRule.ts';

/**
 * Longest secret, with its name or label, that is still masked whole in a text that is read in pieces or was cut.
 * Characters; the longest keys in use have a quarter of it.
 */
export const MASK_REACH: number = 16 * 1024;

export type Mask = (text: string) => string;

/** Where a text may be cut: after `from`, not after `to`. */
export interface CutRange {
  readonly from: number;
  readonly to: number;
}

export interface Cut {
  readonly at: number;
  /** What is before the cut and after it, masked. */
  readonly head: string;
  readonly rest: string;
}

/**
 * Finds a place where a text can be cut without cutting a secret: masking the two parts gives what masking the whole
 * gives. Line ends are tried first, then spaces, then any place. `null` when every place tried is inside a secret.
 */
export function safeCut(text: string, range: CutRange, mask: Mask): Cut | null {
  const whole = mask(text);
  for (const at of cutCandidates(text, range)) {
    const [head, rest] = [mask(text.slice(0, at)), mask(text.slice(at))];
    if (head + rest === whole) return { at, head, rest };
  }
  return null;
}

function* cutCandidates(text: string, { from, to }: CutRange): Generator<number> {
  const middle = Math.floor((from + to) / 2);
  for (const limit of [to, middle]) {
    const line = text.lastIndexOf('\n', limit - 1) + 1;
    if (line > from) yield line;
    const word = text.lastIndexOf(' ', limit - 1) + 1;
    if (word > from) yield word;
    yield wholeCharacter(text, limit);
  }
  yield wholeCharacter(text, from + 1);
}

/** Not between the two halves of a character outside the basic plane. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** Characters masked at a time. A multiple of four, as what is written in base64 is. */
const SLICE = 64 * 1024;
/** Characters behind a cut in which a secret that is cut there can be told from none. */
const AHEAD = 4 * 1024;
/** Characters looked at in search of an end between two yields. */
const LOOK = 256 * 1024;

export interface SliceSizes {
  readonly slice?: number;
  /** Longest secret that is masked whole, its name included. */
  readonly reach?: number;
}

/**
 * Masks a text in slices, with a yield after each piece of work: the regular expressions of V8 keep a place for every
 * character they may go back to, and overflow the stack at some millions. Both sides of a cut are masked as they are in one
 * piece, so the result is that of the whole.
 *
 * A run without any break that is longer than a secret can be is bytes written as text. It is judged by its beginning, and as
 * a whole: shown, or one mark.
 */
export function* maskSlices(text: string, mask: Mask, given: SliceSizes = {}): Work<string> {
  const sizes = { slice: SLICE, reach: MASK_REACH, ...given };
  if (!isLong(text.length, sizes)) return mask(text);
  let out = '';
  let from = 0;
  let run = yield* nextRun(text, 0, sizes.reach);
  for (; run !== null; run = yield* nextRun(text, run.to, sizes.reach)) {
    const shown = maskRun(text, run, mask, sizes.reach);
    yield;
    if (shown === null) continue;
    out += (yield* maskBetween(text.slice(from, run.from), mask, sizes)) + shown;
    from = run.to;
  }
  return out + (yield* maskBetween(text.slice(from), mask, sizes));
}

type Sizes = Required<SliceSizes>;

/** Whether so much text is masked in more than one piece. */
const isLong = (length: number, { slice }: Sizes): boolean => length > 1.25 * slice;

interface SliceRun {
  readonly from: number;
  readonly to: number;
}

/** The next run of more than `min` characters: one of every so many is in it. */
function* nextRun(text: string, from: number, min: number): Work<SliceRun | null> {
  for (let at = from + min; at < text.length; at += min) {
    if (RUN[text.charCodeAt(at)] !== 1) continue;
    let start = at;
    while (start > from && RUN[text.charCodeAt(start - 1)] === 1) start -= 1;
    let end = at;
    for (let to = at; end === to && to < text.length; yield) {
      to = Math.min(text.length, end + LOOK);
      end = runEnd(text, end, to);
    }
    if (end - start > min) return { from: start, to: end };
    at = end;
  }
  return null;
}

function runEnd(text: string, from: number, to: number): number {
  let end = from;
  while (end < to && RUN[text.charCodeAt(end)] === 1) end += 1;
  return end;
}

/** `null` for a run that has to be looked at like other text. */
function maskRun(text: string, { from, to }: SliceRun, mask: Mask, reach: number): string | null {
  const before = text.slice(Math.max(0, from - reach), from);
  const beginning = text.slice(from, from + reach);
  if (mask(before + beginning).endsWith(beginning)) return isBase64(beginning) ? text.slice(from, to) : null;
  return redacted('token');
}

function isBase64(run: string): boolean {
  for (let at = 0; at < run.length; at += 1) if (BASE64[run.charCodeAt(at)] !== 1) return false;
  return true;
}

function* maskBetween(text: string, mask: Mask, sizes: Sizes): Work<string> {
  let out = '';
  let from = 0;
  while (isLong(text.length - from, sizes)) {
    const next = (yield* sliceAfter(text, from, mask, sizes)) ?? overlong(text, from, mask, sizes);
    yield;
    out += next.shown;
    from = next.to;
  }
  return out + mask(text.slice(from));
}

/** A slice of a text, masked, and where the next one begins. */
interface Slice {
  readonly shown: string;
  readonly to: number;
}

/** The slice that begins at a place, or a longer one where a secret is in the way. */
function* sliceAfter(text: string, from: number, mask: Mask, { slice, reach }: Sizes): Work<Slice | null> {
  for (const more of [0, reach, 2 * reach]) {
    const last = Math.min(from + slice + more, text.length);
    const end = last + Math.min(reach, AHEAD);
    const whole = mask(text.slice(from, end));
    for (const to of placesToCut(text, from + Math.floor(slice / 2), last)) {
      yield;
      const rest = mask(text.slice(to, end));
      if (whole.endsWith(rest)) return { shown: whole.slice(0, whole.length - rest.length), to };
    }
  }
  return null;
}

/** The next slice may begin with the rest of a longer secret: that part is left out. */
function overlong(text: string, from: number, mask: Mask, { slice, reach }: Sizes): Slice {
  const to = from + slice;
  return { shown: mask(text.slice(from, to)) + redacted('overlong'), to: to + reach };
}

/** What lists, addresses and tables are separated by. */
const SEPARATORS = [',', ';', '&', '|'];

/** Line ends first, then blanks and separators, then any place. */
function placesToCut(text: string, first: number, to: number): readonly number[] {
  const part = text.slice(first, to);
  const places = [
    part.lastIndexOf('\n'),
    part.slice(0, part.length / 2).lastIndexOf('\n'),
    part.lastIndexOf(' '),
    Math.max(...SEPARATORS.map((char) => part.lastIndexOf(char))),
  ];
  const found = places.filter((at) => at !== -1).map((at) => first + at + 1);
  return [...new Set([...found, anyPlace(text, first, to)])];
}

/** Not in a word if that can be, and never in a character. */
function anyPlace(text: string, first: number, to: number): number {
  const isIn = (at: number): boolean =>
    ALPHANUMERIC[text.charCodeAt(at - 1)] === 1 && ALPHANUMERIC[text.charCodeAt(at)] === 1;
  let at = to;
  while (at > first && isIn(at)) at -= 1;
  if (at === first) at = to;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
