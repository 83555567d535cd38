import { isPlaceholder } from './MaskRule.ts';

/** Words that stand for a kind of value, references, and short numbers: settings and types, not secrets. */
const NOT_A_SECRET =
  /^(?:true|false|null|none|nil|undefined|string|number|boolean|bool|any|unknown|void|object|required|optional|yes|no|on|off|read|write|inherit|always|never|auto|default|basic|env|~|\d{1,5}|(?:await|process\.env|import\.meta|os\.environ|secrets\.)\S{0,128})[,;.)]{0,4}$/i;

/**
 * `hash(input)`, `config.get(`: code that makes a value. A name of letters alone, so that `Pa55(word)` is none; `live(12ab)`
 * is none, since nothing in code begins with a digit and goes on with letters, and a capital is called by nobody with a
 * number (`Summer(2024)`).
 */
const CALL =
  /^(?:(?:new )?[A-Za-z_$]+(?:\.[A-Za-z_$]+){0,8})\((?:$|(?!\d+[A-Za-z])[^()]{0,200}\))(?<!^[A-Z][a-z]{0,64}\(\d{1,200}\))/;

/** `password-reset`, `db.credentials/v2`: words with separators, at most with a version. */
const WORDS = /^[A-Za-z]+(?:[-_.:/][A-Za-z]*\d{0,4})*$/;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Also behind words, as keys of a cache are: `Linux-node-20-<hash>`. */
const HASH = /^(?:[A-Za-z0-9.]{1,32}[-_:/]){0,8}(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64,128})$/i;

/** True for code that makes a value. */
function isCall(value: string): boolean {
  return value.length <= MAX_LOOKED_AT && CALL.test(value);
}

/** True for code, a reference or a placeholder: what stands after `password=` although it is no password. */
export function isNoValue(value: string): boolean {
  return isCall(value) || isReference(value) || FLAGS.test(value);
}

const FLAGS = /^(?:true|false|null|nil|none|undefined|yes|no)[;,)]{0,2}$/i;

/** Decides whether what follows a sensitive name is worth masking. */
export function isSecretValue(value: string): boolean {
  if (value.length > MAX_LOOKED_AT) return !isPlaceholder(value);
  const bare = withoutQuotes(value);
  return (
    bare !== '' && !isPlaceholder(bare) && !NOT_A_SECRET.test(bare) && !isCall(bare) && !isReference(value)
  );
}

/** Stricter, for places where words are as likely: at least 8 characters without a space, letters and others. */
export function looksSecret(value: string): boolean {
  if (value.length > MAX_LOOKED_AT) return !isPlaceholder(value);
  const bare = withoutQuotes(value);
  if (bare.length < 8 || /\s|^[./~]|:\/\//.test(bare)) return false;
  return /[\d!#$%^*+~]/.test(bare) && /[A-Za-z]/.test(bare) && !WORDS.test(bare) && isSecretValue(value);
}

/** As {@link looksSecret}, or letters of which the case changes as no word's does. For values in quotes or tags. */
export function looksSecretQuoted(value: string): boolean {
  if (value.length > MAX_LOOKED_AT) return !isPlaceholder(value);
  const bare = withoutQuotes(value);
  const caseChanges = bare.match(/(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]/g)?.length ?? 0;
  return looksSecret(value) || (/^[A-Za-z]{8,}$/.test(bare) && caseChanges >= bare.length * 0.4);
}

/** Stricter still, for names that seldom hold a secret (`key`): long and mixed, and neither an id nor a hash. */
export function looksRandom(value: string): boolean {
  if (value.length > MAX_LOOKED_AT) return !isPlaceholder(value);
  const bare = withoutQuotes(value);
  if (bare.length < 16 || UUID.test(bare) || HASH.test(bare)) return false;
  return looksSecret(value) && isMadeUp(bare);
}

function withoutQuotes(value: string): string {
  return value.replace(/^[\\"'`]{1,4}/, '').replace(/[\\"'`]{1,4}$/, '');
}

// Tells a value that a generator made from a word that a person chose, by how often the kinds of characters change.
const NONE = 0;
const DIGIT = 1;
const UPPER = 2;
const LOWER = 3;

/** `PasswordResetTokenV2` changes a third of the time, random letters and digits three times in five. */
const MIN_CHANGES = 0.42;
const MIN_CHANGES_WITH_DIGITS = 0.36;
/** Words with a number change once; random values of one case two times in five. */
const MIN_DIGIT_CHANGES = 0.18;

/** Times and counters are mostly digits; hex has five of eight. */
const MAX_DIGITS = 0.78;
/** How much less is asked for where a prefix says that a value follows. */
const AFTER_PREFIX = 0.09;

interface Mixture {
  /** Letters and digits. */
  readonly length: number;
  readonly digits: number;
  /** Changes between digits, upper case and lower case, other characters left out. */
  readonly changes: number;
  /** Changes between digits and letters alone. */
  readonly digitChanges: number;
}

/** True for a text of letters and digits that looks like a generator's; meaningful from some 12 characters. */
export function isMadeUp(text: string, isAfterPrefix = false): boolean {
  const { length, digits, changes, digitChanges } = mixtureOf(text);
  if (digits === 0 || digits > length * MAX_DIGITS) return false;
  if (digitChanges >= Math.max(3, length * MIN_DIGIT_CHANGES)) return true;
  const share = (digits >= 3 ? MIN_CHANGES_WITH_DIGITS : MIN_CHANGES) - (isAfterPrefix ? AFTER_PREFIX : 0);
  return changes >= length * share;
}

function mixtureOf(text: string): Mixture {
  let [length, digits, changes, digitChanges] = [0, 0, 0, 0];
  let before = NONE;
  for (let index = 0; index < text.length; index += 1) {
    const kind = charKind(text.charCodeAt(index));
    if (kind === NONE) continue;
    length += 1;
    if (kind === DIGIT) digits += 1;
    if (before !== NONE && kind !== before) {
      changes += 1;
      if (kind === DIGIT || before === DIGIT) digitChanges += 1;
    }
    before = kind;
  }
  return { length, digits, changes, digitChanges };
}

function charKind(code: number): number {
  if (code >= 48 && code <= 57) return DIGIT;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 97 && code <= 122 ? LOWER : NONE;
}

// Values that are none: they name a value, ask for one, compare with one or make one.

/** At most so many characters are looked at: longer values are no references, and many of them would cost too much. */
const MAX_LOOKED_AT = 512;

const SENSITIVE =
  '(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|(?:api|access|secret|private)[_-]?key|key)';
const NAME = `(?:[A-Za-z]{1,24}[_-]?)?${SENSITIVE}`;
const AFTER = '[?!;,.)\\]}\\s"\'`]{0,8}$';

/** `password: password`, `$token`. */
const OWN_NAME = new RegExp(`^["'\`]?[$@:*&]?${SENSITIVE}${AFTER}`, 'i');
/** `--api-key KEY`, `token=MY_TOKEN`; in small letters somebody may have chosen it. */
const PLACE_NAME = new RegExp(
  `^["'\`]?[$@:*&]?(?:[A-Z]{1,24}_)?(?:PASS|PASSWORD|PWD|SECRET|TOKEN|KEY|VALUE)${AFTER}`,
);
const VARIABLE = new RegExp(`^[*:@&](?:${NAME}|[a-z]+(?:_[a-z]+)+)${AFTER}`, 'i');

const ROOTS =
  'process|import|env|os|config|configuration|conf|cfg|options|opts|settings|this|self|cls|var|vars|local|locals|data|module|params|props|args|argv|req|request|res|response|ctx|context|secrets|credentials|creds|vault|user|input|body|form|state|session|auth|client|account|app|std|crypto|path|row|record|item|event|payload|claims';
/** `options.password`, `var.db_password`, `data.vault_generic_secret.app.data["token"]`. */
const MEMBER = new RegExp(
  `^(?:(?:${ROOTS})(?:(?:\\??\\.|::)[A-Za-z_$][\\w$]{0,64})+|[A-Za-z_$][\\w$]{0,64}(?:\\??\\.[A-Za-z_$][\\w$]{0,64}){0,6}\\??\\.${NAME})(?:\\[[^\\]]{0,64}\\]?)?${AFTER}`,
  'i',
);
/** `getpass.getpass("…"`, `std::env::var(`, `models.CharField(max_length=128,`: the rest may be cut off. */
const METHOD = /^(?:new )?[A-Za-z_$][\w$]{0,64}(?:(?:\??\.|::|->)[A-Za-z_$][\w$]{0,64}){1,8}[!?]?\(/;
const CUT_CALL = /^[a-z_$][\w$]{0,64}\([A-Za-z_$][^()]{0,64},$/;
/** `$request->input(…)`, cut at the `>`. */
const PHP_MEMBER = /^\$[A-Za-z_]\w{0,64}-$/;
const CMDLET = /^(?:Read|Get|ConvertTo|ConvertFrom|New|Import|Invoke)-[A-Z][A-Za-z]{2,32}[;)]?$/;
const FLAG = /^--?[A-Za-z][A-Za-z-]{0,32}(?:=|$)/;
const REGEXP = /^\/[\^([\\]/;
/** `?`, `$1`, `%s`: a place in a statement. */
const PARAMETER = /^["'`]?(?:\?|\$\d{1,2}|%s|%\([a-z_]{1,32}\)s)[;,)\s"'`]{0,4}$/;
const TYPE = /^\[?(?:String|ID|Int|Float|Boolean|SecretStr|SecureString)[!?\])]{0,4}[,;]?$/;
const SPECIAL = /^["'`]?\[[A-Z_ ]{2,32}\]["'`]?$/;
/** `` `vault print token` ``: a command whose output is the value. */
const COMMAND = /^`[a-z][a-z0-9_./-]{0,64} [^`]{0,256}`?$/;
const STORES =
  /^["'`]?(?:(?:op|vault|ssm|keychain|secretsmanager|bws|doppler|infisical|akv|awssm|gcpsm|secretref|pass):(?:\/\/)?[A-Za-z]|arn:[a-z]|ref\+[a-z]|!Ref |!GetAtt |@Microsoft\.KeyVault\()/;
const VERSION = /^["'`]?[~^<>=v]{0,3}\d{1,4}(?:\.\d{1,5}){1,3}(?:[-+][0-9A-Za-z.-]{1,40})?["'`,;]{0,3}$/;

const ALL: readonly RegExp[] = [
  OWN_NAME,
  PLACE_NAME,
  VARIABLE,
  MEMBER,
  METHOD,
  CUT_CALL,
  PHP_MEMBER,
  CMDLET,
  FLAG,
  REGEXP,
  PARAMETER,
  TYPE,
  SPECIAL,
  COMMAND,
  STORES,
  VERSION,
];

/** True for what only refers to a value: `options.password`, `$1`, `op://prod/db/password`. */
function isReference(value: string): boolean {
  return value.length <= MAX_LOOKED_AT && ALL.some((pattern) => pattern.test(value));
}
