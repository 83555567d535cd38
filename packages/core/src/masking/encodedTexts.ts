import { ALPHANUMERIC, BASE64, charRuns, matchOf } from './fastFind.ts';
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
    rule(PERCENT, textOfPercent, { hint: /%(?:3A|2F|40)/i }),
  ];
}

/** What {@link BASE64_RUN} finds. */
function* base64Runs(text: string): Generator<RegExpExecArray> {
  for (const { 0: run, index } of charRuns(text, BASE64, 20)) {
    let to = index + run.length;
    if (text[index - 1] === '=') continue;
    while (text[to] === '=' && to < index + run.length + 2) to += 1;
    yield matchOf(text, index, to);
  }
}

/** What {@link HEX} finds. */
function* hexRuns(text: string): Generator<RegExpExecArray> {
  for (const match of charRuns(text, ALPHANUMERIC, 32)) if (isHexText(match[0])) yield match;
}

/** The text in a run of base64 (also URL-safe), or null for bytes that are none. */
export function textOfBase64(run: string): string | null {
  return beginsAsText(run) ? textFromBytes(Buffer.from(run, 'base64')) : null;
}

/** Whether the first characters of a run of base64 are a text's. Without a buffer: most runs are names of files. */
function beginsAsText(run: string): boolean {
  const end = Math.min(SAMPLE, run.length - (run.length % 4));
  let printable = 0;
  for (let at = 0; at < end; at += 4) {
    const [a, b] = [sextet(run.charCodeAt(at)), sextet(run.charCodeAt(at + 1))];
    const [c, d] = [sextet(run.charCodeAt(at + 2)), sextet(run.charCodeAt(at + 3))];
    if (isPrintable((a << 2) | (b >> 4))) printable += 1;
    if (isPrintable(((b & 15) << 4) | (c >> 2))) printable += 1;
    if (isPrintable(((c & 3) << 6) | d)) printable += 1;
  }
  return printable >= (end / 4) * 3 * MIN_PRINTABLE;
}

/** The six bits that a character of base64 stands for. */
function sextet(code: number): number {
  if (code >= 97) return code - 71;
  if (code >= 65) return code === 95 ? 63 : code - 65;
  if (code >= 48) return code + 4;
  return code === 43 || code === 45 ? 62 : 63;
}

/** Two digits for each printable character. */
function isHexText(run: string): boolean {
  if (run.length % 2 !== 0) return false;
  for (let at = 0; at < run.length; at += 2) {
    const [high, low] = [hexDigit(run.charCodeAt(at)), hexDigit(run.charCodeAt(at + 1))];
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
