import { type MaskRule, redacted } from './MaskRule.ts';

/** Characters of a decoded text from which it can be told from random bytes. */
const MIN_TEXT = 12;
/** Share of printable characters: texts of a binary format have fewer than prose, random bytes a third. */
const MIN_PRINTABLE = 0.75;
/** Longer ones are files, and decoding is not the way to look into them. */
const MAX_ENCODED = 64 * 1024;
/** Characters that tell whether a run is worth decoding. */
const SAMPLE = 24;

const BASE64 = /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}={0,2}/g;
const HEX = /(?<![A-Za-z0-9])(?:[2-7][0-9a-f]|0[9ad]){16,}(?![A-Za-z0-9])/gi;
const PERCENT = /(?<![A-Za-z0-9%._~-])(?:[A-Za-z0-9._~!*-]{1,64})?%(?:3A|2F|40)[A-Za-z0-9._~%!*+-]{8,}/gi;

/** How a text in it is searched for secrets; true if it has one. */
type HasSecret = (text: string) => boolean;

/** Secrets in a text that is written in base64, hex or with percent signs; the whole of it is replaced. */
export function encodedRules(hasSecret: HasSecret): readonly MaskRule[] {
  const rule = (pattern: RegExp, decode: (run: string) => string | null, hint?: RegExp): MaskRule => ({
    name: 'encoded',
    pattern,
    replace: ([run]) => {
      const text = run.length > MAX_ENCODED ? null : decode(run);
      return text !== null && hasSecret(text) ? redacted('encoded') : run;
    },
    ...(hint !== undefined && { hint }),
  });
  return [rule(BASE64, textOfBase64), rule(HEX, textOfHex), rule(PERCENT, textOfPercent, /%(?:3A|2F|40)/i)];
}

/** The text in a run of base64 (also URL-safe), or null for bytes that are none. */
export function textOfBase64(run: string): string | null {
  if (!isText(Buffer.from(run.slice(0, SAMPLE), 'base64'))) return null;
  return textIn(Buffer.from(run, 'base64'));
}

const textOfHex = (run: string): string | null => textIn(Buffer.from(run, 'hex'));

function textOfPercent(run: string): string | null {
  try {
    return decodeURIComponent(run.replace(/%(?![0-9A-Fa-f]{2})/g, '%25'));
  } catch {
    return null;
  }
}

function textIn(bytes: Buffer): string | null {
  return bytes.length >= MIN_TEXT && isText(bytes) ? bytes.toString('utf8') : null;
}

function isText(bytes: Buffer): boolean {
  let printable = 0;
  for (const byte of bytes)
    if ((byte >= 32 && byte < 127) || byte === 10 || byte === 13 || byte === 9) printable += 1;
  return printable >= bytes.length * MIN_PRINTABLE;
}
