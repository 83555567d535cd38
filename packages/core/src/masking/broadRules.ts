import { encodedRules } from './encodedTexts.ts';
import { atNames, wordStarts } from './fastFind.ts';
import { isNoValue, isSecretValue, looksRandom, looksSecret, looksSecretQuoted } from './isSecretValue.ts';
import { type AnchoredRules, applyRules, isPlaceholder, type MaskRule, type RuleSet } from './MaskRule.ts';
import { RANDOM_TOKEN_RULE } from './randomTokens.ts';

// Names after which a secret follows. The word has to be the last one of its name: `tokens`, `token_count`, `author`
// and `keyboard` name no secrets. Every rule begins at the word, so a long name is looked at once.

const KEY_OF =
  'key(?<=(?:api|access|secret|private|encryption|signing|master|account|shared|preshared|license|service|session|storage|auth|app|application|client|consumer|integration|host|stream)[_. -]?key)';
const NAME = `(?:token|passwort|kennwort|contrase[nñ]a|senha|mot[ _]de[ _]passe|wachtwoord|пароль|secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?|passw(?:or)?d|passphrase|passcode|pwd|psk|credentials?|bearer|signature|session[_-]?id|sessid|connection[_-]?string|webhook[_-]?url|key[_-]?base|securestring|${KEY_OF}|pass(?<!(?:by|com|tres|sur|over|under)pass)|(?:pw|auth)(?<![A-Za-z](?:pw|auth))|bindpw)`;
const VARIANT =
  '(?:[_-]?value|[_-](?:prod|production|dev|staging|test|old|new|value|plain|data|\\d{2,3}|v?\\d{1,3}))?(?![A-Za-z0-9])';
const NAMED = `${NAME}${VARIANT}`;
// Values that are keys only if they look made up: `primary_key: id` is a setting.
const KEY = `(?:key(?<!public[_-]?key)|auth|salt|sig|code)(?:[_-]data)?(?![A-Za-z0-9])`;

const QUOTE = `(?:\\\\{0,3}["'\`])`;
const QUOTED = `(?:\\\\{1,3}"[^"\\\\]{1,4096}\\\\{1,3}"|"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.|'')*'|\`[^\`]*\`|["'](?![\\s)\\]},;])[^"'\\n]{1,4096}$)`;
// A mark with more behind it is a value: what stands before the rest of a secret may have been written there.
const MARK = '\\[(?:[A-Z_]{2,32}=)?(?:CREDENTIALS_)?REDACTED(?::[a-z0-9_]{1,32})?\\]';
const BARE = `(?:${MARK}|(?!(?:CREDENTIALS_)?REDACTED[\\]:])[^\\s"'\`,;&<>(){}\\[\\]\\u001b])[^\\s"'\`&<>\\u001b]*`;

const NAMED_VALUE = `(?:${QUOTED}|${BARE})`;

const LINE_START = '(?<=^[ \\t]{0,64}(?:- |export |set |ENV )?[A-Za-z0-9_.-]{0,64})';
const TYPE = '(?:\\s?:\\s?[A-Za-z.|]{1,24}(?=\\s?=))?';
/** What colours a terminal may stand between a name, its sign and its value. */
const COLOUR = '(?:\\u001b\\[[0-9;]{0,16}m){0,3}';
const ASSIGN = `${QUOTE}?\\]?${COLOUR}${TYPE}\\s{0,8}(?:=>|->|:=|=(?![=~])|:)\\s{0,8}${COLOUR}`;
const ANY_BRIDGE = `(?:${ASSIGN}|${QUOTE}?\\s{0,2}[,(]\\s{0,16}|["']\\s{1,4}value=|>|\\s{1,4})`;

const rule = (
  name: string,
  pattern: string,
  isSecret: (value: string, before: () => string) => boolean = isSecretValue,
): MaskRule => ({
  name,
  pattern: new RegExp(pattern, 'imy'),
  replace: ({ 0: whole, 1: label = '', 2: value = '', index }, text) => {
    const before = (): string => text.slice(Math.max(0, index - LINE_REACH), index);
    return isSecret(value, before) ? label + maskInside(value) : whole;
  },
});

/** Characters before a name in which a command is looked for whose word it is. */
const LINE_REACH = 160;
/** `kubectl get secret NAME`: the name of one. */
const OF_KUBERNETES = /(?:^|[\s;&|(`$])(?:kubectl|oc|kubecolor|k)\s[^\n;&|]*$/;
/** `--secret id=npmrc,src=…` of a build: where one is. */
const MOUNTED = /^["']?(?:id|src|source|env|type|target|dst|uid|gid|mode|required)=/;

/** A rule, with the characters that may follow its name. */
const named = (
  next: string,
  ...[name, pattern, isSecret]: Parameters<typeof rule>
): readonly [next: RegExp, rule: MaskRule] => [new RegExp(`[${next}]`), rule(name, pattern, isSecret)];

const QUOTES = '\\\\"\'`';
const SIGNS = `${QUOTES}\\]\\u001b\\s:=-`;
const BRIDGES = `,(>${SIGNS}`;

const NAME_RULES: readonly (readonly [next: RegExp, rule: MaskRule])[] = [
  named(
    `${QUOTES}\\u001b=:%`,
    'value',
    `(${NAMED}${QUOTE}?${COLOUR}(?:=(?![=~])|:=|%3d)${COLOUR})(${NAMED_VALUE})`,
  ),
  named(SIGNS, 'quoted_value', `(${NAMED}${ASSIGN})(${QUOTED})`),
  named(
    ' \\t:=',
    'line_value',
    `(${LINE_START}${NAMED}[ \\t]{0,8}[:=][ \\t]{1,8})([^\\s"'{}()[\\]|>&*#,;][^\\s,;]{0,4096})[ \\t]*$`,
  ),
  named(
    ' \\t',
    'flag',
    `((?<=(?<![A-Za-z0-9_-])--?[A-Za-z0-9.-]{0,64})${NAMED}[ \\t]{1,4})(${NAMED_VALUE})`,
    (value) => !MOUNTED.test(value) && isSecretValue(value),
  ),
  named(
    `${QUOTES}\\s,`,
    'name_and_value',
    `(${NAMED}${QUOTE}?[\\s,]{1,32}${QUOTE}?value${QUOTE}?\\s{0,4}[:=]\\s{0,4})(${NAMED_VALUE})`,
  ),
  named(
    '(',
    'second_argument',
    `(credential\\(\\s{0,4}(?:"[^"\\n]{0,128}"|'[^'\\n]{0,128}')\\s{0,4},\\s{0,4})(${QUOTED})`,
  ),
  named(
    ' \\t',
    'netrc',
    `((?<=(?:(?:machine[ \\t]{1,8}\\S{1,256}|default)[ \\t]{1,8}|^[ \\t]{0,16})login[ \\t]{1,8}\\S{1,256}[ \\t]{1,8})password[ \\t]{1,8})(\\S{1,256})`,
  ),
  named(' \\t', 'docker_env', `((?<=^(?:ENV|setx) [A-Za-z0-9_]{0,64})${NAMED}[ \\t]{1,8})(${NAMED_VALUE})`),
  // From here on words are as likely as secrets.
  named(
    `${QUOTES}\\s,(`,
    'argument',
    `(${NAMED}${QUOTE}?\\s{0,2}[,(]\\s{0,16})(${QUOTED})`,
    looksSecretQuoted,
  ),
  named(`"'`, 'attribute', `(${NAMED}["']\\s{1,4}value=)(${QUOTED})`, looksSecretQuoted),
  named('>', 'element', `(${NAMED}>)([^<>\\s]{1,4096})(?=<)`, looksSecretQuoted),
  named('\\s', 'beside', `(${NAMED}\\s{1,4})(${QUOTED})`, looksSecretQuoted),
  named(
    '\\s:=-',
    'prose',
    `(${NAMED}(?:\\s(?:is|was|are|to|set|be|now|provided|used|given|found|equals)){0,3}\\s{0,2}(?:->|[:=])?\\s{1,4})(${BARE})`,
    (value, before) => !/^[a-z_]{1,24}=/.test(value) && looksSecret(value) && !OF_KUBERNETES.test(before()),
  ),
  named(
    BRIDGES,
    'env_key',
    `((?<=[A-Za-z0-9]_)(?<!(?:cache|primary|foreign|sort|partition|public|idempotency|object|dedup)_)key(?![A-Za-z0-9])${ANY_BRIDGE})(${NAMED_VALUE})`,
    (value) => value.length >= 16 && looksSecret(value),
  ),
  named(':', 'colon', `(${NAMED}:)(${BARE})`, looksSecret),
  named(BRIDGES, 'long_value', `(${KEY}${ANY_BRIDGE})(${NAMED_VALUE})`, looksRandom),
];

export const ALL_NAME_RULES: readonly MaskRule[] = NAME_RULES.map(([, one]) => one);

/** What follows the mark on its line is no part of the header any more. */
const MASKED_HEADER = new RegExp(`^${MARK}(?![A-Za-z0-9])`);
/** The letter before a string of Python; "Basic knowledge of HTTP". */
const HEADER_PROSE = /^(?:[bfru]{1,2}|[a-z]{1,16}(?: [a-z]{1,16}){1,}.*)$/i;

const SCHEME = '(?:(?:bearer|basic|token|digest|negotiate|apikey)\\s{1,4})?';
const HEADER_RULES: readonly MaskRule[] = [
  rule(
    'digest',
    `((?<![A-Za-z0-9-])(?:proxy-)?authorization:\\s{1,4}digest\\s{1,4})([a-z-]{1,24}=(?:"[^"\\n]{0,256}"|[^\\s",]{1,64})(?:[,\\s]{1,3}[a-z-]{1,24}=(?:"[^"\\n]{0,256}"|[^\\s",]{1,64})){0,15}[^\\s"',]{0,256})`,
  ),
  rule(
    'header',
    `((?<![A-Za-z0-9-])(?:authorization|proxy-authorization|x-[a-z0-9-]{0,40}(?:key|token|secret|auth|signature))["'\\\\]{0,4}\\s{0,4}:\\s{0,4}["'\\\\\`]{0,4}${SCHEME})([^\\s"'\\\\,][^\\r\\n"'\\\\]{0,8192})`,
    (value) => !HEADER_PROSE.test(value) && !MASKED_HEADER.test(value) && isSecretValue(value),
  ),
  rule(
    'cookie',
    `((?<![A-Za-z0-9-])(?:set-)?cookie["'\\\\]{0,4}\\s{0,4}:\\s{0,4}["'\\\\\`]{0,4})([^\\s"'\\\\,][^\\r\\n"'\\\\]{0,8192})`,
    holdsSession,
  ),
].map((header) => ({ ...header, claims: true }) as const);

const COMMAND_RULES: readonly MaskRule[] = [
  rule(
    'curl_user',
    `((?<![\\w-])(?:-u|--user|--proxy-user)[ =]{1,4}["']?[^\\s:"']{1,128}:)([^\\s"']{1,256})`,
  ),
  rule(
    'login_flag',
    `((?:docker|podman|registry|helm|oras|npm|az|cf|sshpass)\\b[^\\n]{0,200}?\\s-p\\s{1,2})(${NAMED_VALUE})`,
    looksSecret,
  ),
  rule(
    'glued_flag',
    `((?:mysql\\w{0,8}|mariadb\\S{0,8}|sshpass)\\b[^\\n]{0,200}?\\s-p)(${NAMED_VALUE})`,
    looksSecret,
  ),
  rule('short_flag', `(redis-cli\\b[^\\n]{0,200}?\\s-a\\s{1,2})(${NAMED_VALUE})`, looksSecret),
  rule('directive', `((?<=^[ \\t]{0,16})(?:requirepass|masterauth|rootpw)[ \\t]{1,8})(${NAMED_VALUE})`),
  rule(
    'htpasswd',
    `(htpasswd[ \\t]{1,4}-[A-Za-z]{0,8}b[A-Za-z]{0,8}[ \\t]{1,4}(?:\\S{1,256}[ \\t]{1,4}){1,2})(${NAMED_VALUE})$`,
  ),
  rule('login_key', `(login\\b[^\\n]{0,200}?\\s--?key[ =])(${NAMED_VALUE})`),
  rule('sql', `(identified\\s(?:with\\s\\S{1,64}\\s)?by\\s)(${QUOTED})`),
  rule('sql', `((?:with|login|encrypted)\\s{1,4}password\\s{1,4})(${QUOTED})`),
  rule(
    'url_token',
    `((?<=(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}):\\/\\/)([^\\s/?#"'<>@:]{16,512})(?=@)`,
  ),
];

/** Cookies that are settings: `theme=dark; lang=de`. */
function holdsSession(header: string): boolean {
  return header.split(';').some((pair) => {
    const [, name = '', value = ''] = /^\s*([^=\s]{1,128})=(.*)$/.exec(pair) ?? [];
    if (value === '' || !isSecretValue(value) || COOKIE_ATTRIBUTE.test(name)) return false;
    return SESSION.test(name) || (value.length >= 8 && !/^[A-Za-z]+(?:[-_/][A-Za-z]+)*$/.test(value));
  });
}

const COOKIE_ATTRIBUTE = /^(?:path|expires|max-age|domain|samesite|priority)$/i;
const SESSION = /(?:sid|sess|token|auth|jwt|csrf|xsrf|id)/i;

/** `host:port:database:user:password`, a line of its own. */
const PGPASS: MaskRule = {
  ...rule('pgpass', ''),
  hint: (text) => /:(?:\d{2,5}|\*):/.test(text),
  pattern: /^([^\s:]{1,255}:(?:\d{2,5}|\*):[^\s:]{1,63}:[^\s:]{1,63}:)([^\s:]{1,256})$/gm,
  replace: ([whole, label = '', value = '']) => (looksSecret(value) ? `${label}[REDACTED]` : whole),
};

/** `[REDACTED:token]` is no name. */
const NO_MARK = '(?<!REDACTED:[a-z0-9_]{0,64})';
const COMMANDS =
  'docker|podman|registry|helm|oras|npm|az|cf|sshpass|mysql|mariadb|redis-cli|identified|with|login|encrypted|requirepass|masterauth|rootpw|htpasswd|:\\/\\/|-u|--user|--proxy-user';
const HEADERS = 'proxy-authorization|authorization|set-cookie|cookie|x-';
/** How what NAMED and KEY match begins. */
const STARTS =
  'token passwort kennwort contrase senha mot wachtwoord пароль secret passw psk pwd credential bearer signature session connection webhook key securestring pw auth bindpw salt sig code';

/** Names, headers and flags after which a secret follows: environment, code, JSON, YAML, XML, commands, prose. */
export const KEY_NAME_RULES: readonly (MaskRule | AnchoredRules)[] = [
  anchored(HEADERS, HEADERS.split('|'), () => HEADER_RULES),
  anchored(COMMANDS, COMMANDS.replaceAll('\\', '').split('|'), commandRules),
  anchored(`(?:${NAMED}|${KEY})${NO_MARK}`, STARTS.split(' '), nameRules),
  PGPASS,
];

/** By the character after a name. */
const rulesNext = new Map<string, readonly MaskRule[]>();
/** `token: [REDACTED:github]` at the end of a line or before a space: the value is the mark. */
const MARKED = new RegExp(`["']?(?:\\s?[:=]\\s?|\\s)(["']?)${MARK}\\1(?=\\s|$)`, 'y');

/** Those that can match a name in a text that goes on like this. */
function nameRules(_word: string, text: string, end: number): readonly MaskRule[] {
  const next = text.charAt(end);
  const known = rulesNext.get(next);
  const rules = known ?? NAME_RULES.filter(([begins]) => begins.test(next)).map(([, one]) => one);
  if (known === undefined && next < '\u0080') rulesNext.set(next, rules);
  if (rules.length === 0) return rules;
  MARKED.lastIndex = end;
  return MARKED.test(text) ? [] : rules;
}

/** Words that are met in every text have one rule each. */
function commandRules(word: string): readonly MaskRule[] {
  if (word === 'with' || word === 'encrypted') return SQL_RULES;
  return COMMAND_RULES;
}

const SQL_RULES = COMMAND_RULES.filter(({ name }) => name === 'sql');

function anchored(
  anchor: string,
  words: readonly string[],
  rulesOf: (word: string, text: string, end: number) => readonly MaskRule[],
): AnchoredRules {
  const starts = wordStarts({ words, ignoresCase: true, isApart: false });
  const pattern = new RegExp(anchor, 'iy');
  const wordAt = (text: string, index: number): string | null => {
    pattern.lastIndex = index;
    return pattern.exec(text)?.[0] ?? null;
  };
  return {
    ...{ starts, wordAt },
    rulesFor: (word, text, index) => rulesOf(word.toLowerCase(), text, index + word.length),
  };
}

/** Keeps the quotes, so that JSON stays JSON. */
function maskInside(value: string): string {
  const open = /^\\{0,3}["'`]/.exec(value)?.[0] ?? '';
  const close = open !== '' && !value.endsWith(open) ? '' : open;
  return open === '' ? '[REDACTED]' : `${open}[REDACTED]${close}`;
}

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
  { ...firstRule('aws_key', AWS_KEY, () => '[AWS_KEY=REDACTED]'), hint: 'AKIA' },
  firstRule('secret', SECRET, (groups) => assignedValue(groups, '[SECRET=REDACTED]')),
  {
    ...firstRule('url_credentials', URL_WORDS, ([, scheme]) => `${scheme}[CREDENTIALS_REDACTED]@`),
    hint: '@',
  },
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
