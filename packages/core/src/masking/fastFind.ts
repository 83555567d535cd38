// A regular expression without a literal at its beginning is tried at every character, some five nanoseconds each, and there are
// seventy of them. These find the few places where one can match at all.

/** Which UTF-16 code units are in a class: `one[code] === 1`. */
export type CharClass = Uint8Array;

export function charClass(chars: string): CharClass {
  const one = new Uint8Array(1 << 16);
  for (const char of chars) one[char.charCodeAt(0)] = 1;
  return one;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const ALPHANUMERIC: CharClass = charClass(`${LETTERS}0123456789`);
/** In small letters. */
export const HEX_DIGITS: CharClass = charClass('0123456789abcdef');
/** Base64, also the one for addresses, without its padding. */
export const BASE64: CharClass = charClass(`${LETTERS}0123456789+/-_`);

/** Tokens are made of these, between the marks that join them. */
export const PART: CharClass = charClass(`${LETTERS}0123456789+_-`);
export const BASE64_URL: CharClass = charClass(`${LETTERS}0123456789-_`);

/** As {@link BASE64}, and what tokens are joined by: no text in words has many of them without a break. */
export const RUN: CharClass = charClass(`${LETTERS}0123456789+/_.:=!~-`);

/** Judges a run by its characters, before it is made a text. */
export type RunTest = (codes: Uint16Array, from: number, to: number) => boolean;

/**
 * The longest runs of a class that have at least `min` characters and pass a test. They come in order, as matches of a pattern
 * without groups. `next(place)` goes on at a later place. A run that long has one of every `min` characters of the text, so the
 * search looks at these first.
 */
export function* charRuns(
  text: string,
  one: CharClass,
  min: number,
  test: RunTest = () => true,
): Generator<RegExpExecArray, void, number | undefined> {
  let { codes } = knownText(text);
  let done = 0;
  const end = text.length;
  for (let at = min - 1; at < end; at = Math.max(at, done) + min) {
    if (one[codes[at] as number] !== 1) continue;
    let from = at;
    while (from > done && one[codes[from - 1] as number] === 1) from -= 1;
    let to = at + 1;
    while (to < end && one[codes[to] as number] === 1) to += 1;
    done = to;
    if (to - from < min || !test(codes, from, to)) continue;
    const next = yield matchOf(text, from, to);
    done = Math.max(done, next ?? 0);
    codes = knownText(text).codes;
  }
}

/** Whether a text has a run of a class that is so long. */
export const holdsRun = (text: string, one: CharClass, min: number): boolean =>
  charRuns(text, one, min).next().done === false;

export function matchOf(text: string, from: number, to: number): RegExpExecArray {
  const match = [text.slice(from, to)] as unknown as RegExpExecArray;
  match.index = from;
  match.input = text;
  return match;
}

/** Where a part of a text begins and ends. */
export interface CharRange {
  readonly from: number;
  readonly to: number;
}

const [LINE_FEED, RETURN] = [10, 13];
/** Lengths of the lines that bytes in base64 are broken into. */
const [SHORTEST_LINE, LONGEST_LINE] = [60, 100];

/** Lines of one length, all of base64: where each begins, and where the last one ends. */
export interface LinesOfBytes {
  readonly starts: readonly number[];
  readonly end: number;
}

/** @returns Lines that each have a digit, a small and a large letter. */
export function linesOfBytes(text: string, from: number, length: number): LinesOfBytes {
  const starts: number[] = [];
  if (length < SHORTEST_LINE || length > LONGEST_LINE) return { starts, end: from };
  const { codes } = knownText(text);
  let end = from;
  for (let at = from; at + length < text.length && isOfBytes(codes, at, at + length); ) {
    const next = at + length + (codes[at + length] === RETURN ? 2 : 1);
    if (codes[next - 1] !== LINE_FEED) break;
    end = at + length;
    starts.push(at);
    at = next;
  }
  return { starts, end };
}

/** By a character of base64: a bit for small letters, large ones, digits and signs. */
const BYTE_KINDS = new Uint8Array(1 << 16);
for (const char of `${LETTERS}0123456789+/-_`) {
  BYTE_KINDS[char.charCodeAt(0)] = /[a-z]/.test(char) ? 1 : /[A-Z]/.test(char) ? 2 : /\d/.test(char) ? 4 : 8;
}

function isOfBytes(codes: Uint16Array, from: number, to: number): boolean {
  let kinds = 0;
  for (let at = from; at < to; at += 1) {
    const kind = BYTE_KINDS[codes[at] as number] as number;
    if (kind === 0) return false;
    kinds |= kind;
  }
  return (kinds & 7) === 7;
}

/** Where one of some words may begin. */
export interface WordStarts {
  /** In order; a superset. */
  readonly in: (text: string) => readonly number[];
}

interface WordList {
  readonly words: readonly string[];
  readonly ignoresCase: boolean;
  /** The words begin no place within another word, unless an escape may end before it (`%3D`, `\\n`, a colour). */
  readonly isApart: boolean;
}

/** By the first two characters, below 128: a bit for each list of words that has one beginning so. */
const listsAt = new Uint8Array(1 << 14);
/** By four bits of each of the first four: small and large letters have the same. */
const listsAtFour = new Uint8Array(1 << 16);
/** By a first character beyond. */
const listsAtWide = new Uint8Array(1 << 16);
const lists: WordList[] = [];

/** Shifted by four bits a character. */
const rollHash = (hash: number, code: number): number => ((hash << 4) | (code & 15)) & 0xffff;

/** Of a word of less than four characters, with whatever follows. */
function wordHashes(word: string): readonly number[] {
  const codes = Array.from({ length: Math.min(4, word.length) }, (_, at) => word.charCodeAt(at));
  const free = 4 * (4 - codes.length);
  const start = codes.reduce(rollHash, 0) << free;
  return Array.from({ length: 1 << free }, (_, rest) => start | rest);
}

/** Of a text that was looked into last. */
interface KnownText {
  readonly text: string;
  /** With as many zeros behind the text as are looked at ahead. Only until another text is looked into. */
  readonly codes: Uint16Array;
  /** Where they are; the next text's come into the same place. */
  readonly room: Buffer;
  starts: readonly (readonly number[])[];
  /** By two characters, below 128: the number of the text that had them last. A superset. */
  readonly pairs: Uint8Array;
  number: number;
}

const AHEAD = 4;
/** What is decoded on the way through a long text is short. */
const SHORT = 4_096;
const nothing = (): KnownText => ({
  ...{ text: '', codes: new Uint16Array(AHEAD), room: Buffer.alloc(0), starts: [] },
  ...{ pairs: new Uint8Array(1 << 14), number: 0 },
});

// The rules look one after the other into a text that seldom changes between.
let lastLong = nothing();
let lastShort = nothing();

/** Words of two characters at least. All lists are looked for at once, and all words that are apart as one list. */
export function wordStarts(list: WordList): WordStarts {
  const same = list.isApart ? lists.findIndex(({ isApart }) => isApart) : -1;
  const number = same === -1 ? lists.push(list) - 1 : same;
  if (number === 7) throw new RangeError('Expected seven lists of words at most.');
  [lastLong, lastShort] = [nothing(), nothing()];
  addBehind();
  for (const word of list.words) addWord(word, number, list.ignoresCase);
  return { in: (text) => lookedInto(text).starts[number] ?? [] };
}

function addWord(word: string, number: number, ignoresCase: boolean): void {
  const pair = word.slice(0, 2);
  for (const hash of wordHashes(word)) addTo(listsAtFour, hash, number);
  for (const [first, second] of ignoresCase ? spellings(pair) : [pair]) {
    const [code, next] = [first?.charCodeAt(0) ?? 0, second?.charCodeAt(0) ?? 0];
    if (code < 128) addTo(listsAt, (code << 7) | (next & 127), number);
    else addTo(listsAtWide, code, number);
  }
}

function addTo(table: Uint8Array, at: number, list: number): void {
  table[at] = (table[at] ?? 0) | (1 << list);
}

/** Small and large letters. */
function spellings(pair: string): readonly string[] {
  const [first = '', second = ''] = pair;
  const both = (char: string): readonly string[] => [char.toLowerCase(), char.toUpperCase()];
  return both(first).flatMap((a) => both(second).map((b) => a + b));
}

/** Somewhat more, as the next slice may be longer. */
const roomFor = (length: number): Buffer => Buffer.allocUnsafeSlow(2 * (length + (length >> 3)));

function knownText(text: string): KnownText {
  const last = text.length > SHORT ? lastLong : lastShort;
  if (last.text === text) return last;
  const room = last.room.length >= 2 * (text.length + AHEAD) ? last.room : roomFor(text.length + AHEAD);
  room.write(text, 'utf16le');
  const codes = new Uint16Array(room.buffer, room.byteOffset, text.length + AHEAD).fill(0, text.length);
  const number = (last.number % 255) + 1;
  if (number === 1) last.pairs.fill(0);
  const now: KnownText = { text, codes, room, starts: [], pairs: last.pairs, number };
  if (text.length > SHORT) lastLong = now;
  else lastShort = now;
  return now;
}

function lookedInto(text: string): KnownText {
  const of = knownText(text);
  if (of.starts.length === lists.length) return of;
  of.starts = lists.map(() => []);
  addStarts(of, { from: 0, to: text.length }, of.starts as number[][]);
  return of;
}

/** Whether a text has a literal of two ASCII characters at least. Most have not even its pairs of characters. */
export function holdsLiteral(text: string, literal: string): boolean {
  const { pairs, number } = lookedInto(text);
  for (let at = 1; at < literal.length; at += 1) {
    if (pairs[(literal.charCodeAt(at - 1) << 7) | literal.charCodeAt(at)] !== number) return false;
  }
  return literal.length === 2 || text.includes(literal);
}

/** What a part of a text became. */
export interface TextEdit {
  /** In the text as it was. */
  readonly at: number;
  readonly length: number;
  /** Characters that stand there now. */
  readonly now: number;
}

/** Says what a text has become, so that only what changed is looked into. @param edits - In order. */
export function textBecame(before: string, after: string, edits: readonly TextEdit[]): void {
  const old = lastLong;
  if (old.text !== before || old.starts.length !== lists.length || after.length <= SHORT) return;
  const of = knownText(after);
  // The numbers have begun anew, and the pairs of the old text are gone: all of the new one is looked into.
  if (of.number < old.number) return;
  of.number = old.number;
  const starts = lists.map((): number[] => []);
  const done = lists.map(() => 0);
  let shift = 0;
  let at = 0;
  const keep = (to: number): void => {
    for (const [number, list] of old.starts.entries()) {
      let next = done[number] ?? 0;
      for (; next < list.length && (list[next] as number) < to; next += 1) {
        if ((list[next] as number) >= at) starts[number]?.push((list[next] as number) + shift);
      }
      done[number] = next;
    }
    at = to;
  };
  for (let edit = 0; edit < edits.length; ) {
    keep(Math.max(at, (edits[edit]?.at ?? 0) - AHEAD));
    const from = at + shift;
    for (; edit < edits.length && (edits[edit] as TextEdit).at - AHEAD <= at; edit += 1) {
      const { at: begin, length, now } = edits[edit] as TextEdit;
      shift += now - length;
      at = Math.min(before.length, begin + length + ESCAPE_REACH + 1);
    }
    addStarts(of, { from, to: at + shift }, starts);
  }
  keep(before.length);
  of.starts = starts;
}

/** Characters that the longest escape before a word has. */
const ESCAPE_REACH = 32;

/** Begins an escape: a word may follow it directly. */
const ESCAPE = 0x80;
/** By a character: the lists with words that may follow it, and {@link ESCAPE}. */
const behind = new Uint8Array(1 << 16);

function addBehind(): void {
  const anywhere = lists.reduce((bits, { isApart }, list) => bits | (isApart ? 0 : 1 << list), 0);
  behind.fill(ESCAPE - 1);
  for (let code = 0; code < 128; code += 1) if (ALPHANUMERIC[code] === 1) behind[code] = anywhere;
  for (const code of [0x25, 0x5c, 0x1b, 0x9b]) behind[code] = 0xff;
}

function addStarts({ codes, pairs, number }: KnownText, { from, to }: CharRange, starts: number[][]): void {
  const [first, four, wide, after] = [listsAt, listsAtFour, listsAtWide, behind];
  let escaped = 0;
  for (let at = Math.max(0, from - ESCAPE_REACH - 1); at < from; at += 1) {
    if (((behind[codes[at] as number] as number) & ESCAPE) !== 0) escaped = at + ESCAPE_REACH + 1;
  }
  let can = from === 0 ? 0xff : (after[codes[from - 1] as number] as number);
  let code = codes[from] as number;
  let hash = [0, 1, 2].reduce((rolled, ahead) => rollHash(rolled, codes[from + ahead] as number), 0);
  for (let at = from; at < to; at += 1) {
    const next = codes[at + 1] as number;
    const pair = (code << 7) | (next & 127);
    if (code < 128) pairs[pair] = number;
    hash = ((hash << 4) | ((codes[at + 3] as number) & 15)) & 0xffff;
    let found = (at < escaped ? 0xff : can) & (four[hash] as number);
    if (found !== 0) {
      found &= (code < 128 ? first[pair] : wide[code]) as number;
      if (found !== 0) addStart(starts, found, at);
    }
    can = after[code] as number;
    if ((can & ESCAPE) !== 0) escaped = at + ESCAPE_REACH + 1;
    code = next;
  }
}

function addStart(starts: readonly number[][], found: number, at: number): void {
  for (let number = 0; found >> number !== 0; number += 1)
    if ((found >> number) & 1) starts[number]?.push(at);
}

/** Where a bearer, a key of an API, a password or a secret is named. */
const NAMED_FIRST: WordStarts = wordStarts({
  words: ['bearer', 'api', 'passw', 'pwd', 'secret'],
  ignoresCase: true,
  isApart: false,
});

/** What a global pattern finds that begins with one of those words. */
export function atNames(pattern: RegExp): (text: string) => Iterable<RegExpExecArray> {
  const here = new RegExp(pattern.source, pattern.flags.replace('g', 'y'));
  return function* (text) {
    let from = 0;
    for (const at of NAMED_FIRST.in(text)) {
      if (at < from) continue;
      here.lastIndex = at;
      const match = here.exec(text);
      if (match === null) continue;
      from = at + match[0].length;
      yield match;
    }
  };
}

/** What a global pattern finds that has a literal at so many characters behind its beginning, at least and at most. */
export function findAround(pattern: RegExp, literal: string, [least, most]: readonly [number, number]) {
  const here = new RegExp(pattern.source, pattern.flags.replace('g', 'y'));
  return function* (text: string): Generator<RegExpExecArray> {
    let from = 0;
    for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1)) {
      for (let start = Math.max(from, at - most); start <= at - least; start += 1) {
        here.lastIndex = start;
        const match = here.exec(text);
        if (match === null) continue;
        from = start + match[0].length;
        yield match;
        break;
      }
    }
  };
}
