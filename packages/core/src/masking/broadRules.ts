import { encodedRules } from './encodedTexts.ts';
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

/** "Bearer tokens", "Bearer of bad news": a short word of small letters, no credential. */
const BEARER_PROSE =
  /^(?:[a-z]{1,7}|[Tt]okens?|[Aa]uth[a-z]{0,12}|[Ss]chemes?|[Hh]eaders?|[Cc]redentials?|[a-z_]{1,24}=)[.:)!?]{0,2}$/;

/** Four families of the first specification, in its order and with its texts [8_RISKS-REQ-001]; credentials in URLs are precise. */
const FIRST_RULES: readonly MaskRule[] = [
  firstRule('bearer', BEARER, ([, , token]) => (BEARER_PROSE.test(token) ? null : 'Bearer [REDACTED]')),
  firstRule('api_key', API_KEY, ([, separator, value]) => assigned(separator, value, '[API_KEY=REDACTED]')),
  firstRule('aws_key', AWS_KEY, () => '[AWS_KEY=REDACTED]'),
  firstRule('secret', SECRET, ([, separator, value]) => assigned(separator, value, '[SECRET=REDACTED]')),
];

const NAMED_RULES: readonly RuleSet[] = [...FIRST_RULES, ...KEY_NAME_RULES];
/** What the broad mask adds to the precise one: values after a name, and random tokens of vendors nobody has told us of. */
export const BROAD_RULES: readonly RuleSet[] = [
  ...NAMED_RULES,
  ...encodedRules((text) => applyRules(text, NAMED_RULES).count > 0),
  RANDOM_TOKEN_RULE,
  // Once more: a name may stand before what only now is a mark and a rest, and masking again has to change nothing.
  ...NAMED_RULES,
];

type Groups = readonly [whole: string, first: string, second: string];

/** `text` returns null for "not a secret"; the mark of an earlier pass is left alone. */
function firstRule(name: string, pattern: RegExp, text: (groups: Groups) => string | null): MaskRule {
  const replace = (match: RegExpExecArray): string => {
    const [whole, first = '', second = ''] = match;
    return isPlaceholder(second) ? whole : (text([whole, first, second]) ?? whole);
  };
  return { name, pattern, replace };
}

/** `name=value` counts unless it is a call; with a colon or spaces it may be prose or a type too. */
function assigned(separator: string, value: string, text: string): string | null {
  if (separator === '=' && !isNoValue(value)) return text;
  if (/:\s/.test(separator) && !/^\S{0,256}\d/.test(value)) return null;
  return isSecretValue(value) && !/^[({[]/.test(value) ? text : null;
}
