// Values that are none: they name a value, ask for one, compare with one or make one.

/** At most so many characters are looked at: longer values are no references, and many of them would cost too much. */
export const MAX_LOOKED_AT = 512;

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
export function isReference(value: string): boolean {
  return value.length <= MAX_LOOKED_AT && ALL.some((pattern) => pattern.test(value));
}
