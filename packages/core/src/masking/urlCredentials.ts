import { atNames } from './fastFind.ts';
import { looksRandom, looksSecret } from './isSecretValue.ts';
import { isPlaceholder, type MaskRule, redacted } from './MaskRule.ts';

// Literals come first and what stands before them after: an engine finds a literal fast.
const SCHEME = '(?<=[A-Za-z][A-Za-z0-9+.-]:(?:\\\\?/){2})';
// User and password may hold a raw `@`; the host begins after the last one. Bounds keep many `a://` linear.
const URL_USERINFO = new RegExp(
  `:\\\\?/\\\\?/${SCHEME}([^\\s/?#"'\`<>:\\\\]{0,128}):([^\\s/"'\`<>\\\\]{0,256})@`,
  'g',
);
/** A raw `/` in the password: what begins as a port does is an address, and no password is looked for behind it. */
const URL_SLASH = new RegExp(
  `(:\\\\?/\\\\?/)${SCHEME}(?<!ssh:\\\\?/\\\\?/)[^\\s/?#"'\`<>:\\\\@[]{0,128}:(?!\\d{1,5}[/?#])(?=[^\\s/?#"'\`<>\\\\]{0,256}/)([^\\s?#"'\`<>\\\\]{1,256})@(?=[A-Za-z0-9[])`,
  'g',
);
/** A token in the place of the user, without a password. */
const URL_USER = new RegExp(`://${SCHEME}([A-Za-z0-9_.~-]{20,512})@`, 'g');
/** `user:password@tcp(host:3306)/db`, as Go writes it. */
const GO_DSN = /((?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{1,64}:)([^\s"'`@]{1,128})(?=@(?:tcp|udp|unix)\()/g;
const ORACLE = /(jdbc:oracle:(?:thin|oci8?):[^\s/@:"']{1,64}\/)([^\s@"']{1,128})(?=@)/g;

// `Password=…` inside `Server=…;User Id=…;` and inside `host=… user=…` (libpq).
const DSN_PASSWORD =
  /((?:password|pwd)(?<=[;\s"'](?:password|pwd))\s{0,2}=\s{0,2})([^;"'\s]{1,256})(?=[;"'\s]|$)/gi;
const DSN_NEIGHBOUR =
  /(?:^|[;\s"'])(?:host|hostaddr|server|data source|user id|uid|dbname|database|initial catalog)\s?=/i;

const PARAMETER =
  /([?&;](?:amp;)?([A-Za-z0-9_.-]{0,32}(?:password|passwd|pwd|token|secret|api[_-]?key|key|sig|signature|auth|code|pass))=)([^\s&"'`<>\\#;]{4,4096})/gi;
const STRONG =
  /(?:password|passwd|pwd|secret|(?:access|refresh|id|auth|private|job|api|bot|user|session)[_-]?token|api[_-]?key|sig|signature)$/i;
const PASSWORD = /(?:password|passwd|pwd)$/i;
/** Characters before a parameter in which its address must begin. */
const ADDRESS_REACH = 1_024;
const ADDRESS = /(?:^|[^A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.:-]{1,40}):\/\/[^\s"'`<>]*$/;

/** Characters before the password in which the rest of the connection string must begin. */
const DSN_REACH = 200;

/** Credentials inside URLs and connection strings. Placeholders such as `${DB_PASSWORD}` stay. */
export const URL_CREDENTIAL_RULES: readonly MaskRule[] = [
  { name: 'url_credentials', pattern: URL_USERINFO, hint: '@', replace: maskUserInfo },
  {
    name: 'url_credentials',
    pattern: URL_USER,
    hint: '@',
    replace: (match) => (isKeyAsUser(match[1] ?? '') ? '://[CREDENTIALS_REDACTED]@' : match[0]),
  },
  connectionString(ORACLE, 'jdbc:oracle:'),
  connectionString(GO_DSN, ['@tcp(', '@udp(', '@unix(']),
  { name: 'connection_string', pattern: DSN_PASSWORD, find: atNames(DSN_PASSWORD), replace: maskDsnPassword },
  { name: 'url_parameter', pattern: PARAMETER, hint: '://', replace: maskParameter },
];

/** What the precise rules of earlier releases do not know. */
export const NEWER_URL_RULES: readonly MaskRule[] = [
  {
    name: 'url_credentials',
    pattern: URL_SLASH,
    hint: '@',
    replace: ([whole, scheme = '', password = '']) =>
      isPlaceholder(password) ? whole : `${scheme}[CREDENTIALS_REDACTED]@`,
  },
];

function connectionString(pattern: RegExp, hint: MaskRule['hint'] & {}): MaskRule {
  const name = 'connection_string';
  const replace = ([whole, label = '', value = '']: RegExpExecArray): string =>
    isPlaceholder(value) ? whole : label + redacted(name);
  return { name, pattern, hint, replace };
}

/** A user without a password is a secret only if it looks like one (`https://KEY:@api.example.com`). */
function maskUserInfo([whole, user = '', password = '']: RegExpExecArray): string {
  const isSecret = password === '' ? isKeyAsUser(user) : !isPlaceholder(password);
  return isSecret ? `${whole.slice(0, whole.lastIndexOf('/') + 1)}[CREDENTIALS_REDACTED]@` : whole;
}

const isKeyAsUser = (user: string): boolean => looksRandom(user) || /^[0-9a-f]{32,128}$/.test(user);

function maskParameter(match: RegExpExecArray, text: string): string {
  const [whole, label = '', name = '', value = ''] = match;
  const before = text.slice(Math.max(0, match.index - ADDRESS_REACH), match.index);
  const scheme = ADDRESS.exec(before)?.[1];
  if (scheme === undefined) return whole;
  return isParameterSecret(name, value, scheme) ? label + redacted('url_parameter') : whole;
}

function isParameterSecret(name: string, value: string, scheme: string): boolean {
  if (isPlaceholder(value) || /[()[\]{}]/.test(value)) return false;
  if (PASSWORD.test(name) && !/^https?$/i.test(scheme)) return true;
  return STRONG.test(name) ? looksSecret(value) : looksRandom(value);
}

function maskDsnPassword(match: RegExpExecArray, text: string): string {
  const [whole, label = '', value = ''] = match;
  if (isPlaceholder(value) || /[()]/.test(value)) return whole;
  const before = text.slice(Math.max(0, match.index - DSN_REACH), match.index);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return DSN_NEIGHBOUR.test(line) ? label + redacted('connection_string') : whole;
}
