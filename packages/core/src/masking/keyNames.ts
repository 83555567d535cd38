import { isSecretValue } from './isSecretValue.ts';
import type { MaskRule } from './MaskRule.ts';

// What a name ends with when its value is a secret. `tokens`, `token_count`, `author`, `keyboard` are not names
// of secrets: the word has to be the last one.
const SENSITIVE_NAME = [
  '(?:api|access|secret|private|encryption|signing|master|account|shared|license|service|session|storage)[_.-]?key',
  'key[_-]?base',
  'auth[_-]?key',
  'app[_-]?key',
  'token',
  'secret',
  'passwd',
  'password',
  'passphrase',
  'passcode',
  'pwd',
  'credentials?',
  '(?<![A-Za-z])_?auth',
  'bearer',
  'signature',
  'session[_-]?id',
  'sessid',
  'connection[_-]?string',
  'webhook[_-]?url',
].join('|');
const VARIANT = '(?:[_-](?:prod|production|dev|staging|test|old|new|value|v?\\d{1,3}))?';
// One start per run of name characters (left boundary), so a long run is scanned once.
const NAME = `(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{0,64}?(?:${SENSITIVE_NAME})${VARIANT}`;
const QUOTE = `(?:\\\\{0,3}["'\`])`;
const VALUE = `(?:\\\\{1,3}"[^"\\\\]{1,4096}\\\\{1,3}"|"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'|[^\\s"'\`,;&<>(){}\\[\\]][^\\s"'\`&<>]*)`;

const EQUALS = new RegExp(`(${NAME}${QUOTE}?(?:=|:=|%3[Dd]))(${VALUE})`, 'gi');
const SPACED_QUOTED = new RegExp(
  `(${NAME}${QUOTE}?\\s{0,8}(?:=>|:=|=|:)\\s{0,8})(${QUOTE}[^"'\`\\\\\\n]{1,4096}${QUOTE})`,
  'gi',
);
const LINE_VALUE = new RegExp(
  `^([ \\t]{0,64}(?:- |export |set |ENV )?${NAME}[ \\t]{0,8}[:=][ \\t]{1,8})([^\\s"'{}()[\\]|>&*#,;][^\\s,;]{0,4096})[ \\t]*$`,
  'gim',
);
const FLAG = new RegExp(
  `((?<![A-Za-z0-9_-])--?${NAME.replace('(?<![A-Za-z0-9_.-])', '')}[ \\t]{1,4})(${VALUE})`,
  'gi',
);
const HEADER =
  /((?<![A-Za-z0-9-])(?:authorization|proxy-authorization|x-[a-z0-9-]{0,40}(?:key|token|secret|auth|signature)|cookie|set-cookie)["'\\]{0,4}\s{0,4}:\s{0,4}["'\\]{0,4}(?:(?:bearer|basic|token|digest|negotiate|apikey)\s{1,4})?)([^\s"'\\,][^\r\n"'\\]{0,8192})/gi;
const CURL_USER = /((?<![\w-])(?:-u|--user|--proxy-user)[ =]{1,4}["']?[^\s:"']{1,128}:)([^\s"']{1,256})/g;
const NETRC = /((?<![\w-])(?:machine|login)[ \t]{1,8}\S{1,256}[ \t]{1,8}password[ \t]{1,8})(\S{1,256})/g;
const URL_TOKEN = /((?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/)([^\s/?#"'<>@:]{16,512})(?=@)/g;

/** Names and headers after which a secret follows: environment, JSON, YAML, headers, flags, queries. */
export const KEY_NAME_RULES: readonly MaskRule[] = [
  valueRule('header', HEADER),
  valueRule('curl_user', CURL_USER),
  valueRule('netrc', NETRC),
  valueRule('url_token', URL_TOKEN),
  valueRule('flag', FLAG),
  valueRule('quoted_value', SPACED_QUOTED),
  valueRule('value', EQUALS),
  valueRule('line_value', LINE_VALUE),
];

function valueRule(name: string, pattern: RegExp): MaskRule {
  return {
    name,
    pattern,
    replace: (match) => {
      const [whole, label = '', value = ''] = match;
      return isSecretValue(value) ? label + maskInside(value) : whole;
    },
  };
}

/** Keeps the quotes, so that JSON stays JSON. */
function maskInside(value: string): string {
  const open = /^\\{0,3}["'`]/.exec(value)?.[0] ?? '';
  return open === '' ? '[REDACTED]' : `${open}[REDACTED]${open}`;
}
