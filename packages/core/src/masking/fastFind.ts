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
/** Base64, also the one for addresses, without its padding. */
export const BASE64: CharClass = charClass(`${LETTERS}0123456789+/-_`);

/** As {@link BASE64}, and what tokens are joined by: no text in words has many of them without a break. */
export const RUN: CharClass = charClass(`${LETTERS}0123456789+/_.:=!~-`);

/**
 * The longest runs of a class that have at least `min` characters, from first to last, as matches of a pattern without groups. A
 * run that long has one of every `min` characters of the text, so no other is looked at first.
 */
export function* runsOf(text: string, one: CharClass, min: number): Generator<RegExpExecArray> {
  const codes = codesIn(text);
  let done = 0;
  for (let at = min - 1; at < codes.length; at = Math.max(at, done) + min) {
    if (one[codes[at] as number] !== 1) continue;
    let from = at;
    while (from > done && one[codes[from - 1] as number] === 1) from -= 1;
    let to = at + 1;
    while (to < codes.length && one[codes[to] as number] === 1) to += 1;
    done = to;
    if (to - from >= min) yield matchOf(text, from, to);
  }
}

export function matchOf(text: string, from: number, to: number): RegExpExecArray {
  return Object.assign([text.slice(from, to)] as [string], { index: from, input: text });
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
/** By five bits of each of the first four: small and large letters have the same. */
const listsAtFour = new Uint8Array(1 << 20);
/** By a first character beyond. */
const listsAtWide = new Uint8Array(1 << 16);
const lists: WordList[] = [];

/** Shifted by five bits a character. */
const hashOf = (hash: number, code: number): number => ((hash << 5) | (code & 31)) & 0xfffff;

/** Of a word of less than four characters, with whatever follows. */
function hashesOf(word: string): readonly number[] {
  const codes = Array.from({ length: Math.min(4, word.length) }, (_, at) => word.charCodeAt(at));
  const free = 5 * (4 - codes.length);
  const start = codes.reduce(hashOf, 0) << free;
  return Array.from({ length: 1 << free }, (_, rest) => start | rest);
}

/** Eight lists at most, of words of two characters at least. All of them are looked for at once. */
export function wordStarts(list: WordList): WordStarts {
  const number = lists.length;
  if (number === 8) throw new RangeError('Expected eight lists of words at most.');
  lists.push(list);
  for (const word of list.words) {
    const pair = word.slice(0, 2);
    for (const hash of hashesOf(word)) addTo(listsAtFour, hash, number);
    for (const [first, second] of list.ignoresCase ? spellings(pair) : [pair]) {
      const [code, next] = [first?.charCodeAt(0) ?? 0, second?.charCodeAt(0) ?? 0];
      if (code < 128) addTo(listsAt, (code << 7) | (next & 127), number);
      else addTo(listsAtWide, code, number);
    }
  }
  return { in: (text) => startsIn(text)[number] ?? [] };
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

// The rules look one after the other into a text that seldom changes between.
let lastText = '';
let lastCodes = new Uint16Array();
let lastStarts: readonly (readonly number[])[] = [];

function codesIn(text: string): Uint16Array {
  if (text === lastText && text.length === lastCodes.length) return lastCodes;
  const bytes = Buffer.allocUnsafeSlow(2 * text.length);
  bytes.write(text, 'utf16le');
  lastText = text;
  lastCodes = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
  lastStarts = [];
  return lastCodes;
}

function startsIn(text: string): readonly (readonly number[])[] {
  const codes = codesIn(text);
  if (lastStarts.length !== lists.length) lastStarts = findStarts(codes);
  return lastStarts;
}

/** Characters that the longest escape before a word has. */
const ESCAPE_REACH = 32;
const ESCAPES = charClass('%\\\u001b');
const ESCAPE_OF_8_BITS = 0x9b;

const hashAt = (codes: Uint16Array, at: number): number =>
  (((codes[at] as number) & 31) << 15) |
  (((codes[at + 1] as number) & 31) << 10) |
  (((codes[at + 2] as number) & 31) << 5) |
  ((codes[at + 3] as number) & 31);

function findStarts(codes: Uint16Array): readonly (readonly number[])[] {
  const starts = lists.map((): number[] => []);
  const apart = lists.reduce((bits, { isApart }, number) => bits | (isApart ? 1 << number : 0), 0);
  let before = 0;
  let escapeAt = -ESCAPE_REACH;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] as number;
    let found = 0;
    if (code < 128) {
      found = listsAt[(code << 7) | ((codes[at + 1] as number) & 127)] as number;
      if (found !== 0) found &= listsAtFour[hashAt(codes, at)] as number;
      if (ESCAPES[code] === 1) escapeAt = at;
    } else {
      found = listsAtWide[code] as number;
      if (code === ESCAPE_OF_8_BITS) escapeAt = at;
    }
    if (found !== 0) {
      if (ALPHANUMERIC[before] === 1 && at - escapeAt > ESCAPE_REACH) found &= ~apart;
      for (let number = 0; found >> number !== 0; number += 1)
        if ((found >> number) & 1) starts[number]?.push(at);
    }
    before = code;
  }
  return starts;
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
