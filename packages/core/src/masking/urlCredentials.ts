import { isPlaceholder, type MaskRule, redacted } from './MaskRule.ts';

// Literals come first and what stands before them after: an engine finds a literal fast.
const SCHEME = '(?<=(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://)';
// The password may hold a raw `@`; the host begins after the last one. Bounds keep many `a://` linear.
const URL_USERINFO = new RegExp(
  `://${SCHEME}([^\\s/?#"'\`<>@:\\\\]{0,128}):([^\\s/"'\`<>\\\\]{1,256})@`,
  'g',
);

// `Password=…` inside `Server=…;User Id=…;` and inside `host=… user=…` (libpq).
const DSN_PASSWORD =
  /((?:password|pwd)(?<=[;\s"'](?:password|pwd))\s{0,2}=\s{0,2})([^;"'\s]{1,256})(?=[;"'\s]|$)/gi;
const DSN_NEIGHBOUR =
  /(?:^|[;\s"'])(?:host|hostaddr|server|data source|user id|uid|dbname|database|initial catalog)\s?=/i;

/** Characters before the password in which the rest of the connection string must begin. */
const DSN_REACH = 200;

/** Credentials inside URLs and connection strings. Placeholders such as `${DB_PASSWORD}` stay. */
export const URL_CREDENTIAL_RULES: readonly MaskRule[] = [
  {
    name: 'url_credentials',
    pattern: URL_USERINFO,
    replace: (match) => (isPlaceholder(match[2] ?? '') ? match[0] : '://[CREDENTIALS_REDACTED]@'),
  },
  { name: 'connection_string', pattern: DSN_PASSWORD, replace: maskDsnPassword },
];

function maskDsnPassword(match: RegExpExecArray, text: string): string {
  const [whole, label = '', value = ''] = match;
  if (isPlaceholder(value) || /[()]/.test(value)) return whole;
  const before = text.slice(Math.max(0, match.index - DSN_REACH), match.index);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return DSN_NEIGHBOUR.test(line) ? label + redacted('connection_string') : whole;
}
