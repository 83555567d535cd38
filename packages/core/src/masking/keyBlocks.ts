import { type MaskRule, redacted } from './MaskRule.ts';

/** An end of a line: as it is, or as JSON, a shell, an address or HTML writes it. */
const END_OF_LINE = '(?:\\s|\\\\{1,4}[nrt]|%0[AaDd]|%20|&#1[03];|<br ?/?>)';
/** What a diff, a quotation, a comment, a string over several lines or a log puts before a line or after it. */
const AROUND = `(?:${END_OF_LINE}|["'\`+,;>|*#\\\\]|-(?!-))`;
/** Header lines (`Proc-Type: …`) a block may open with; bounded, so many openings cannot be quadratic. */
const HEADERS = `(?:${AROUND}{0,16}[A-Za-z-]{1,24}: [^\\n\\\\]{1,200}){0,4}`;
/** A line of a key is longer than the words of code or prose that may follow an opening. */
const LINE = '(?:[A-Za-z0-9+/]|%2[BbFf]){16,}(?:=|%3[Dd]){0,2}';
const LAST_LINE = `(?:${AROUND}{1,16}=?[A-Za-z0-9+/]{1,15}(?:=|%3[Dd]){0,2}(?![A-Za-z0-9:]))?`;
/** Nothing that must match stands after it, so that its loop is never tried a second way. */
const BODY = `(?:${AROUND}{0,16}${LINE})+`;
const GAP = '(?: |%20|\\+)';
const LABEL = `(?:[A-Z0-9]{1,16}${GAP}){0,4}`;
const KIND = `(?:${LABEL}PRIVATE${GAP}KEY(?:${GAP}BLOCK)?|OpenVPN Static key V1)`;
const CLOSING = `(?:${AROUND}{0,16}-{4,7} ?END${GAP}${KIND} ?-{4,5})?`;

const PRIVATE_KEY = new RegExp(
  `-{4,5} ?BEGIN${GAP}${KIND} ?-{4,5}${HEADERS}(${BODY})${LAST_LINE}${LAST_LINE}${CLOSING}`,
  'g',
);
const PUTTY_KEY = new RegExp(
  `PuTTY-User-Key-File-\\d:[\\s\\S]{0,2200}?Private-Lines: \\d{1,4}(${BODY})(?:${AROUND}{1,16}Private-MAC: [0-9a-f]{8,128})?`,
  'g',
);
/** A log puts the same before every line. What a log puts there ends with a space. */
const LOGGED_KEY = new RegExp(
  `-{5}BEGIN ${KIND}-{5}(?:\\r?\\n[^\\n]{1,120}? [A-Za-z0-9+/]{4,76}={0,2}(?=\\r?\\n))+\\r?\\n[^\\n]{1,120}? -{5}END ${KIND}-{5}`,
  'g',
);

/** A block as a whole in base64, as a variable or a manifest holds it. */
const ENCODED_KEY =
  /(?:LS0tLS1CRUdJTi|LS0tLSBCRUdJTi)[A-Za-z0-9+/_-]+(?:\s{1,16}[A-Za-z0-9+/_-]{40,})*={0,2}/g;
/** Characters of the encoded block that hold its first line. */
const FIRST_LINE = 120;

const SECRET_COMMENT = /(untrusted comment: [^\n]{0,100}secret key[^\n]{0,40}\n)[A-Za-z0-9+/=]{40,}/g;
const LABELLED_KEY =
  /((?<![A-Za-z0-9])(?:PrivateKey|PresharedKey|PrivateExponent|Prime[12]|Exponent[12]|Coefficient)(?: ?= ?|: ))[A-Za-z0-9+/]{42,}={0,2}(?![A-Za-z0-9+/=])/g;
const XML_KEY = /(<(?:D|P|Q|DP|DQ|InverseQ)>)[A-Za-z0-9+/=\s]{20,}(?=<)/g;
const JWK_MEMBER = /(\\{0,3}"(?:d|p|q|dp|dq|qi|k)\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}")[A-Za-z0-9_-]{20,}/g;
/** Characters around a member in which its key says that it is one. */
const JWK_REACH = 4_096;

/** Below this many base64 characters the lines are an illustration, not a key. */
const MIN_KEY_CHARS = 40;

/** Private keys in PEM, OpenSSH, PGP and PuTTY form, also inside JSON strings, diffs and logs and without their last line. */
export const KEY_BLOCK_RULES: readonly MaskRule[] = [
  {
    name: 'private_key',
    pattern: PRIVATE_KEY,
    hint: 'BEGIN',
    replace: (match) => (isKey(match[1] ?? '') ? redacted('private_key') : match[0]),
  },
  {
    name: 'private_key',
    pattern: PUTTY_KEY,
    hint: 'PuTTY-User-Key-File',
    replace: () => redacted('private_key'),
  },
  {
    name: 'private_key',
    pattern: LOGGED_KEY,
    hint: 'PRIVATE KEY-----',
    replace: () => redacted('private_key'),
  },
  { name: 'private_key', pattern: ENCODED_KEY, hint: 'CRUdJTi', replace: maskEncoded },
  labelled(SECRET_COMMENT, ['untrusted comment: ']),
  labelled(LABELLED_KEY, ['PrivateKey', 'PresharedKey', 'Exponent', 'Prime', 'Coefficient']),
  labelled(XML_KEY, ['<Modulus>']),
  {
    name: 'private_key',
    pattern: JWK_MEMBER,
    hint: 'kty',
    replace: (match, text) => (isInJwk(match, text) ? match[1] + redacted('private_key') : match[0]),
  },
];

function maskEncoded([whole]: RegExpExecArray): string {
  const start = Buffer.from(whole.slice(0, FIRST_LINE), 'base64').toString('latin1');
  return start.includes('PRIVATE KEY') ? redacted('private_key') : whole;
}

function labelled(pattern: RegExp, hint: readonly string[]): MaskRule {
  const replace = (match: RegExpExecArray): string => match[1] + redacted('private_key');
  return { name: 'private_key', pattern, hint, replace };
}

function isKey(body: string): boolean {
  return body.replace(/\s|\\[nrt]/g, '').length >= MIN_KEY_CHARS;
}

function isInJwk({ index }: RegExpExecArray, text: string): boolean {
  return /"kty\\{0,3}"/.test(text.slice(Math.max(0, index - JWK_REACH), index + JWK_REACH));
}
