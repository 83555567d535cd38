import { type MaskRule, redacted } from './MaskRule.ts';

/** Header lines (`Proc-Type: …`) a block may open with; bounded, so many openings cannot be quadratic. */
const HEADERS = '(?:(?:\\s|\\\\[nr]){0,8}[A-Za-z-]{1,24}: [^\\n\\\\]{1,200}){0,4}';
const BODY = '(?:[A-Za-z0-9+/=\\s]|\\\\[nrt])+';
const CLOSING = '(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?';

const PRIVATE_KEY = new RegExp(
  `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----${HEADERS}(${BODY})${CLOSING}`,
  'g',
);
const PUTTY_KEY =
  /PuTTY-User-Key-File-\d:[^\n]{0,100}\n[\s\S]{0,2000}?Private-Lines: \d{1,4}\n[A-Za-z0-9+/=\s]+/g;

/** Below this many base64 characters the lines are an illustration, not a key. */
const MIN_KEY_CHARS = 40;

/** Private keys in PEM, OpenSSH, PGP and PuTTY form, also inside JSON strings and without their last line. */
export const KEY_BLOCK_RULES: readonly MaskRule[] = [
  {
    name: 'private_key',
    pattern: PRIVATE_KEY,
    hint: 'PRIVATE KEY',
    replace: (match) => (isKey(match[1] ?? '') ? redacted('private_key') : match[0]),
  },
  {
    name: 'private_key',
    pattern: PUTTY_KEY,
    hint: 'PuTTY-User-Key-File',
    replace: () => `${redacted('private_key')}\n`,
  },
];

function isKey(body: string): boolean {
  return body.replace(/\s|\\[nrt]/g, '').length >= MIN_KEY_CHARS;
}
