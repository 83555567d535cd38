import { encodedRules } from './encodedTexts.ts';
import { atNames } from './fastFind.ts';
import { isNoValue, isSecretValue } from './isSecretValue.ts';
import { KEY_NAME_RULES } from './keyNames.ts';
import { applyRules, isPlaceholder, type MaskRule, type RuleSet } from './MaskRule.ts';
import { RANDOM_TOKEN_RULE } from './randomTokens.ts';

/** A shell closes its quotes, escapes one and opens them again: `'it'\''s'`. */
const VALUE = `(?:"[^"\\n]{1,4096}"|'[^'\\n]{1,4096}'(?:\\\\''[^'\\n]{0,512}'){0,8}|[^\\s"'&<>\`\\u001b]+)`;
/** `==` compares, `=>` and `=~` are no assignments either. */
const SEPARATOR = '(\\s{0,4}(?::=|=(?![=>~])|:)[ \\t]{0,4})';
const BEARER = /\bBearer([^\S\n]{1,8})([^\s"'`,;<>\\]+)/gi;
const API_KEY = new RegExp(`\\bapi[_ -]?key${SEPARATOR}(${VALUE})`, 'gi');
const AWS_KEY = /AKIA[0-9A-Z]{16}/g;
const SECRET = new RegExp(`(?:password|passwd|pwd|secret(?<!arn:[^\\s]{1,100}))${SEPARATOR}(${VALUE})`, 'gi');

/** "Bearer tokens", `Bearer realm=`: what is said about credentials. */
const ABOUT_BEARERS =
  /^(?:[Tt]okens?|[Aa]uth[a-z]{0,12}|[Ss]chemes?|[Hh]eaders?|[Cc]redentials?|[a-z_]{1,24}=)[.:)!?]{0,2}$/;

/** The mark of an earlier pass, a place for a token, and "Bearer of bad news": a short word that is not the last one. */
const isNoToken = (token: string, after: string): boolean =>
  isPlaceholder(token) ||
  ABOUT_BEARERS.test(token) ||
  (/^[a-z]{1,7}[.:)!?]{0,2}$/.test(token) && !/^(?:$|["'`\n])/.test(after));

/** What the precise rules take for a word that asks for a password; `PASSWORD` does. */
const URL_WORDS = /(\/\/)(?<=[A-Za-z][A-Za-z0-9+.-]:\/\/)[^\s/?#"'`<>:\\]{1,128}:[a-z][a-z_-]{2,63}@/g;

/** The families of the first specification, in its order and with its texts [8_RISKS-REQ-001]. */
const FIRST_RULES: readonly MaskRule[] = [
  firstRule('bearer', BEARER, ([, , token], after) => (isNoToken(token, after) ? null : 'Bearer [REDACTED]')),
  firstRule('api_key', API_KEY, (groups) => assignedValue(groups, '[API_KEY=REDACTED]')),
  firstRule('aws_key', AWS_KEY, () => '[AWS_KEY=REDACTED]'),
  firstRule('secret', SECRET, (groups) => assignedValue(groups, '[SECRET=REDACTED]')),
  firstRule('url_credentials', URL_WORDS, ([, scheme]) => `${scheme}[CREDENTIALS_REDACTED]@`),
];

/** What a name gives away. */
export const NAMED_RULES: readonly RuleSet[] = [...FIRST_RULES, ...KEY_NAME_RULES];

/** Tokens of vendors nobody has told us of, and then names once more: before what only now is a mark and a rest. */
export const UNKNOWN_RULES: readonly RuleSet[] = [RANDOM_TOKEN_RULE, { again: NAMED_RULES }];

/** What the broad mask adds to the precise one: values after a name, and random tokens. */
export const BROAD_RULES: readonly RuleSet[] = [
  ...NAMED_RULES,
  ...encodedRules((text) => applyRules(text, NAMED_RULES).count > 0),
  ...UNKNOWN_RULES,
];

type Groups = readonly [whole: string, first: string, second: string];

/** `mark` returns null for "not a secret". */
function firstRule(
  name: string,
  pattern: RegExp,
  mark: (groups: Groups, after: string) => string | null,
): MaskRule {
  const replace = (match: RegExpExecArray, text: string): string => {
    const [whole, first = '', second = ''] = match;
    const end = match.index + whole.length;
    return mark([whole, first, second], text.slice(end, end + 1)) ?? whole;
  };
  return { name, pattern, replace, ...(pattern.flags.includes('i') && { find: atNames(pattern) }) };
}

/** `name=value` counts unless it is a call or a reference; with a colon or spaces it may be prose or a type too. */
function assignedValue([whole, separator, value]: Groups, text: string): string | null {
  if (separator === '=' && isOtherWord(whole, value)) return text;
  if (isPlaceholder(value)) return null;
  if (separator === '=' && !isNoValue(value)) return text;
  if (/:\s/.test(separator) && !/^\S{0,256}\d/.test(value)) return null;
  return isSecretValue(value) && !/^[({[]/.test(value) ? text : null;
}

/** `password=secret` is a password; `password=password` is a variable that is handed on. */
function isOtherWord(whole: string, value: string): boolean {
  const name = whole.slice(0, whole.indexOf('=')).toLowerCase();
  return /^(?:secret|token|pass|passwd|password|key)$/.test(value) && name !== value;
}
