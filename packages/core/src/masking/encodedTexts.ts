import { ALPHANUMERIC, BASE64, charRuns, matchOf, type RunTest } from './fastFind.ts';
import { type MaskRule, redacted } from './MaskRule.ts';

/** Characters of a decoded text from which it can be told from random bytes. */
const MIN_TEXT = 12;
/** Share of printable characters: texts of a binary format have fewer than prose, random bytes a third. */
const MIN_PRINTABLE = 0.75;
/** Longer ones are files, and decoding is not the way to look into them. */
const MAX_ENCODED = 64 * 1024;
/** Characters that tell whether a run is worth decoding. */
const SAMPLE = 24;

const BASE64_RUN = /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}={0,2}/g;
const HEX = /(?<![A-Za-z0-9])(?:[2-7][0-9a-f]|0[9ad]){16,}(?![A-Za-z0-9])/gi;
const PERCENT = /(?<![A-Za-z0-9%._~-])(?:[A-Za-z0-9._~!*-]{1,64})?%(?:3A|2F|40)[A-Za-z0-9._~%!*+-]{8,}/gi;

/** How a text in it is searched for secrets; true if it has one. */
type HasSecret = (text: string) => boolean;

/** Secrets in a text that is written in base64, hex or with percent signs; the whole of it is replaced. */
export function encodedRules(hasSecret: HasSecret): readonly MaskRule[] {
  const rule = (
    pattern: RegExp,
    decode: (run: string) => string | null,
    faster: Pick<MaskRule, 'find' | 'hint'>,
  ): MaskRule => ({
    name: 'encoded',
    pattern,
    ...faster,
    replace: ([run]) => {
      const text = run.length > MAX_ENCODED ? null : decode(run);
      return text !== null && hasSecret(text) ? redacted('encoded') : run;
    },
  });
  return [
    rule(BASE64_RUN, textOfBase64, { find: base64Runs }),
    rule(HEX, textOfHex, { find: hexRuns }),
    rule(PERCENT, textOfPercent, { hint: ['%3A', '%3a', '%2F', '%2f', '%40'] }),
  ];
}

/** The texts among the runs of {@link BASE64_RUN}. */
function* base64Runs(text: string): Generator<RegExpExecArray> {
  const isText: RunTest = (codes, from, to) =>
    codes[from - 1] !== PADDING && beginsAsText(codes, from, withPadding(codes, to));
  for (const { 0: run, index } of charRuns(text, BASE64, 20, isText)) {
    let to = index + run.length;
    while (text[to] === '=' && to < index + run.length + 2) to += 1;
    yield matchOf(text, index, to);
  }
}

const PADDING = 61;

function withPadding(codes: Uint16Array, end: number): number {
  if (codes[end] !== PADDING) return end;
  return codes[end + 1] === PADDING ? end + 2 : end + 1;
}

/** What {@link HEX} finds. */
function* hexRuns(text: string): Generator<RegExpExecArray> {
  yield* charRuns(text, ALPHANUMERIC, 32, isHexText);
}

const sample = new Uint16Array(SAMPLE);

/** The text in a run of base64 (also URL-safe), or null for bytes that are none. */
export function textOfBase64(run: string): string | null {
  for (let at = 0; at < SAMPLE; at += 1) sample[at] = run.charCodeAt(at);
  return beginsAsText(sample, 0, run.length) ? textFromBytes(Buffer.from(run, 'base64')) : null;
}

/** Whether the first characters of a run of base64 are a text's. Without a buffer: most runs are names of files. */
function beginsAsText(codes: Uint16Array, from: number, to: number): boolean {
  const length = Math.min(SAMPLE, to - from - ((to - from) % 4));
  let others = (length / 4) * 3 * (1 - MIN_PRINTABLE);
  for (let at = from; at < from + length && others >= 0; at += 4) {
    const b = sextet(codes[at + 1] as number);
    const c = sextet(codes[at + 2] as number);
    if (!isPrintable((sextet(codes[at] as number) << 2) | (b >> 4))) others -= 1;
    if (!isPrintable(((b & 15) << 4) | (c >> 2))) others -= 1;
    if (!isPrintable(((c & 3) << 6) | sextet(codes[at + 3] as number))) others -= 1;
  }
  return others >= 0;
}

/** The six bits that a character of base64 stands for. */
function sextet(code: number): number {
  if (code >= 97) return code - 71;
  if (code >= 65) return code === 95 ? 63 : code - 65;
  if (code >= 48) return code + 4;
  return code === 43 || code === 45 ? 62 : 63;
}

/** Two digits for each printable character. */
function isHexText(codes: Uint16Array, from: number, to: number): boolean {
  if ((to - from) % 2 !== 0) return false;
  for (let at = from; at < to; at += 2) {
    const high = hexDigit(codes[at] as number);
    const low = hexDigit(codes[at + 1] as number);
    if (low < 0 || !((high >= 2 && high <= 7) || (high === 0 && (low === 9 || low === 10 || low === 13)))) {
      return false;
    }
  }
  return true;
}

/** -1 for another character. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

const isPrintable = (byte: number): boolean =>
  (byte >= 32 && byte < 127) || byte === 10 || byte === 13 || byte === 9;

const textOfHex = (run: string): string | null => textFromBytes(Buffer.from(run, 'hex'));

function textOfPercent(run: string): string | null {
  try {
    return decodeURIComponent(run.replace(/%(?![0-9A-Fa-f]{2})/g, '%25'));
  } catch {
    return null;
  }
}

function textFromBytes(bytes: Buffer): string | null {
  return bytes.length >= MIN_TEXT && isText(bytes) ? bytes.toString('utf8') : null;
}

function isText(bytes: Buffer): boolean {
  let printable = 0;
  for (const byte of bytes) if (isPrintable(byte)) printable += 1;
  return printable >= bytes.length * MIN_PRINTABLE;
}
