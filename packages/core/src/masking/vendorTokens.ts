import {
  atNames,
  BASE64_URL,
  findAround,
  HEX_DIGITS,
  holdsLiteral,
  holdsRun,
  wordStarts,
} from './fastFind.ts';
import {
  type AnchoredRules,
  escapeForRegExp,
  type MaskRule,
  type RuleSet,
  redacted,
  tokenRule,
} from './MaskRule.ts';
import { END, NEWER_SHAPES, TOKEN_SHAPES, type TokenShape } from './tokenShapes.ts';

// A token may follow what ends with a letter or a digit and is no part of it: a URL escape (`%3D`, `%253D`), an escape of
// JSON or a shell (`\n`, `\u003d`), or a sequence that colours a terminal, as it is or escaped.
const ESCAPES = [
  '%(?:25)?[0-9A-Fa-f]{2}',
  '\\\\(?:[nrtbfv0]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})',
  '(?:[\\u001b\\u009b]|\\\\(?:u00[19][bB]|x[19][bB]|033|e))\\[?[0-9;:]{0,24}[A-Za-z]',
];
const AFTER_ESCAPE = ESCAPES.map((sequence) => `(?<=${sequence})`).join('|');
const LOOSE = `(?:(?<![A-Za-z0-9])|${AFTER_ESCAPE})`;
/** The sign of a line in a diff is no part of what it begins with. */
const STRICT = `(?:(?<![A-Za-z0-9_-])|(?<=(?:^|\\n)[+-])|${AFTER_ESCAPE})`;

// Literals come first and what stands before them after: an engine finds a literal fast.
const AWS_ACCESS_KEY = new RegExp(`A(?:KIA|SIA|BIA|CCA)(?<=${LOOSE}A...)[0-9A-Z]{16}${END}`, 'g');
const AWS_SECRET_KEY =
  /(secret_?access_?key["'\\]{0,4}\s{0,4}[=:]\s{0,4}["'\\]{0,4})([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi;
const AZURE_ACCOUNT_KEY = /((?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{42,88}={0,2}/g;
const AZURE_SAS = /([?&](?:amp;)?sig=)[A-Za-z0-9%+/]{43,80}=?/g;

const AZURE_CLIENT_SECRET =
  /(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])/g;
const MAILCHIMP = new RegExp(`[0-9a-f]{32}(?<=${LOOSE}.{32})-us\\d{1,2}${END}`, 'g');
const TELEGRAM = new RegExp(`(?:${LOOSE}|(?<=/bot))\\d{8,10}:AA[A-Za-z0-9_-]{32,33}${END}`, 'g');
const TERRAFORM = new RegExp(`${LOOSE}[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{60,}`, 'g');
const ASANA = ['1/', '2/'].map((head): [string, RegExp] => [
  head,
  new RegExp(`${head}(?<=${LOOSE}./)(?:\\d{10,20}/)?\\d{10,20}:[0-9a-f]{32}${END}`, 'g'),
]);
const ASANA_LEGACY = new RegExp(`(?<![A-Za-z0-9/._-])0/[0-9a-f]{32}${END}`, 'g');
const FACEBOOK_APP = /(?<![A-Za-z0-9|])\d{13,17}\|[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])/g;
const BITWARDEN = new RegExp(`0\\.(?<=${LOOSE}0.)[0-9a-f-]{36}\\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==`, 'g');

/** What crypt(3), bcrypt, scrypt and Argon2 write: with it a password can be guessed elsewhere. */
const PASSWORD_HASH =
  /\$(?:apr1|[1567y]|gy|2[abxy]|argon2(?:id|i|d)|scrypt|pbkdf2(?:-[a-z0-9]{1,8})?)\$[A-Za-z0-9./$=,+-]{24,}/g;

// What stands in the middle or at the end tells these.
const AZURE_DEVOPS = new RegExp(`${LOOSE}[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}${END}`, 'g');
const AZURE_SIGNATURES = 'AIoT APIM ACDb AzFu AzSe AzCa JQQJ99 +ASt +ASb +AEh +ARm +ABa +AMC +ACR'.split(' ');
const AZURE_KEY = new RegExp(
  `(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{32,78}(?:${AZURE_SIGNATURES.map(escapeForRegExp).join('|')})[A-Za-z0-9+/_-]{5,40}={0,2}(?![A-Za-z0-9+/=])`,
  'g',
);
const NEW_RELIC = new RegExp(`${LOOSE}[0-9a-zA-Z]{30,36}NRAL${END}`, 'g');
const RAPID_API = new RegExp(`${LOOSE}[0-9a-f]{10}msh[0-9a-f]{15}p[0-9a-f]{6}jsn[0-9a-f]{12}${END}`, 'g');
const MAILGUN = new RegExp(`[0-9a-f]{32}(?<=${STRICT}.{32})-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])`, 'g');
const UNLEASH = /(?<![A-Za-z0-9_*:-])[a-z0-9*_-]{1,40}:[a-z0-9*_-]{1,40}\.[0-9a-f]{56}(?![0-9a-f])/g;
const ABLY = /(?<![A-Za-z0-9_.-])[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g;
const SIGNATURE =
  /([?&](?:amp;)?(?:X-Amz-(?:Signature|Security-Token|Credential)|X-Goog-(?:Signature|Credential)|Signature)=)[A-Za-z0-9%+/=_~.-]{16,4096}/gi;
const STRIPE_CLIENT = new RegExp(
  `${LOOSE}(?:pi|seti|cs|src|sub)_[A-Za-z0-9]{10,80}_secret_[A-Za-z0-9]{16,}`,
  'g',
);

const holdsHex = (text: string, digits: number): boolean => holdsRun(text, HEX_DIGITS, digits);

const TELEGRAM_RULE = tokenRule('telegram', TELEGRAM, ':AA');
const TERRAFORM_RULE = tokenRule('terraform', TERRAFORM, '.atlasv1.');
const PASSWORD_HASH_RULE = tokenRule(
  'password_hash',
  PASSWORD_HASH,
  '$apr1 $1$ $5$ $6$ $7$ $y$ $gy$ $2a$ $2b$ $2x$ $2y$ $argon2i $argon2d $scrypt $pbkdf2'.split(' '),
);

/** In any spelling that is met. */
const SIGNATURES_ARE_NAMED = [
  '-Amz-',
  '-amz-',
  '-AMZ-',
  '-Goog-',
  '-goog-',
  '-GOOG-',
  'ignature=',
  'IGNATURE=',
];

const LABELLED: readonly RuleSet[] = [
  {
    name: 'aws_access_key',
    pattern: AWS_ACCESS_KEY,
    hint: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    replace: () => '[AWS_KEY=REDACTED]',
  },
  { ...keepLabel('aws_secret_key', AWS_SECRET_KEY), find: atNames(AWS_SECRET_KEY) },
  keepLabel('azure_account_key', AZURE_ACCOUNT_KEY, 'Key='),
  keepLabel('azure_sas', AZURE_SAS, 'sig='),
];
const SIGNATURES: readonly RuleSet[] = [
  tokenRule('stripe', STRIPE_CLIENT, '_secret_'),
  keepLabel('url_signature', SIGNATURE, SIGNATURES_ARE_NAMED),
];

/** Tokens whose own shape gives them away: a vendor's prefix and length. */
export const VENDOR_RULES: readonly RuleSet[] = [
  ...LABELLED,
  // Families without a prefix: what is rare in them stands in the middle.
  tokenRule('azure_client_secret', AZURE_CLIENT_SECRET, 'Q~'),
  tokenRule('mailchimp', MAILCHIMP, (text) => holdsHex(text, 32) && holdsLiteral(text, '-us')),
  TELEGRAM_RULE,
  TERRAFORM_RULE,
  ...ASANA.map(([head, pattern]) => tokenRule('asana', pattern, head)),
  tokenRule('asana', ASANA_LEGACY, '0/'),
  tokenRule(
    'facebook',
    FACEBOOK_APP,
    [...'0123456789'].map((digit) => `${digit}|`),
  ),
  PASSWORD_HASH_RULE,
  tokenRule('bitwarden', BITWARDEN, '=='),
  { ...tokenRule('azure_devops', AZURE_DEVOPS), find: findAround(AZURE_DEVOPS, 'AZDO', [76, 76]) },
  tokenRule('azure_key', AZURE_KEY, AZURE_SIGNATURES),
  { ...tokenRule('newrelic', NEW_RELIC), find: findAround(NEW_RELIC, 'NRAL', [30, 36]) },
  { ...tokenRule('rapid_api', RAPID_API), find: findAround(RAPID_API, 'msh', [10, 10]) },
  tokenRule('mailgun', MAILGUN, (text) => holdsHex(text, 32) && /-[0-9a-f]{8}-[0-9a-f]{8}/.test(text)),
  tokenRule('unleash', UNLEASH, (text) => holdsHex(text, 56)),
  tokenRule(
    'ably',
    ABLY,
    (text) => holdsRun(text, BASE64_URL, 43) && /\.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{43}/.test(text),
  ),
  ...SIGNATURES,
  prefixed(TOKEN_SHAPES),
];

/** Four characters, or three that end with a sign; a JSON Web Token has its dots. */
const LONG_HEAD = /^(?:.{4,}|.{2}[_.-]|eyJ)$/;

/** Of them, those with a form that bytes in base64 do not have by chance. */
export const FIXED_RULES: readonly RuleSet[] = [
  ...LABELLED,
  TELEGRAM_RULE,
  TERRAFORM_RULE,
  PASSWORD_HASH_RULE,
  ...SIGNATURES,
  prefixed([...TOKEN_SHAPES, ...NEWER_SHAPES].map(withLongHeads).filter(({ heads }) => heads.length > 0)),
];

/** The tokens that the precise rules of earlier releases do not know. */
export const NEWER_RULES: readonly RuleSet[] = [prefixed(NEWER_SHAPES)];

function withLongHeads(shape: TokenShape): TokenShape {
  return { ...shape, heads: shape.heads.filter((head) => LONG_HEAD.test(head)) };
}

function keepLabel(name: string, pattern: RegExp, hint?: MaskRule['hint']): MaskRule {
  const replace = (match: RegExpExecArray): string => `${match[1]}[REDACTED:${name}]`;
  return { name, pattern, replace, ...(hint !== undefined && { hint }) };
}

/** `ghp_xxxxxxxxxxxxxxxx`: only the place of a token. */
const CROSSED_OUT = /(?<![A-Za-z0-9])(?:x{16,}|X{16,})$/;

/** One search for all prefixes; where one stands, the shapes that begin with it are tried. */
export function prefixed(shapes: readonly TokenShape[]): AnchoredRules {
  const heads = [...new Set(shapes.flatMap((shape) => shape.heads))].sort((a, b) => b.length - a.length);
  // Made when a text first has the prefix: all of them at once took as long as the rest of the import, and 12 MB.
  const rules = new Map<string, readonly MaskRule[]>();
  const byPair = new Map<string, string[]>();
  for (const head of heads) {
    const pair = head.slice(0, 2);
    byPair.set(pair, [...(byPair.get(pair) ?? []), head]);
  }
  const among = (pair: string, text: string, index: number): string | undefined =>
    byPair.get(pair)?.find((head) => text.startsWith(head, index));
  return {
    wordAt: (text, index) => {
      const pair = text.slice(index, index + 2);
      return among(pair, text, index) ?? among(pair.slice(0, 1), text, index) ?? null;
    },
    starts: wordStarts({ words: heads.flatMap(withSecond), ignoresCase: false, isApart: true }),
    rulesFor: (head, text, index) => {
      const isApart = IS_APART.test(text.charAt(index - 1));
      const key = isApart ? head : `${head} `;
      const known = rules.get(key) ?? rulesAt(head, shapes, isApart);
      rules.set(key, known);
      return known;
    },
  };
}

/** What may follow a head of one character. */
function withSecond(head: string): readonly string[] {
  return head.length > 1 ? [head] : [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'].map((second) => head + second);
}

/** The beginning of a text, or a character that ends every word. There a token needs no escape before it. */
const IS_APART = /^[^A-Za-z0-9_-]?$/s;

/** Also of shorter heads: where `sk-ant-` stands, `sk-` stands too. */
function rulesAt(head: string, shapes: readonly TokenShape[], isApart: boolean): readonly MaskRule[] {
  return shapes.flatMap(({ name, boundary, heads, tail }) =>
    heads
      .filter((own) => head.startsWith(own))
      .map((own): MaskRule => {
        const left = isApart ? '' : boundary === 'strict' ? STRICT : LOOSE;
        const pattern = new RegExp(left + escapeForRegExp(own) + tail, 'y');
        return { name, pattern, replace: ([whole]) => (CROSSED_OUT.test(whole) ? whole : redacted(name)) };
      }),
  );
}

/** Between an id and its secret, in the forms they are written down in; characters. */
const BETWEEN = '[\\s\\S]{1,200}?';
const ALONE = '(?<![A-Za-z0-9/+_-])';

const SECRET_END = '(?![A-Za-z0-9/+=_-])';

/** Secrets without a shape of their own, told by the id that their vendor writes beside them. */
export const SECRET_PAIR_RULES: readonly MaskRule[] = [
  pairRule('aws_secret_key', '(?:AKIA|ASIA)[0-9A-Z]{16}', '[A-Za-z0-9/+]{40}', ['AKIA', 'ASIA']),
  pairRule('alibaba', 'LTAI[A-Za-z0-9]{12,20}', '[A-Za-z0-9]{30}', 'LTAI'),
  pairRule('tencent', 'AKID[A-Za-z0-9]{32}', '[A-Za-z0-9]{32}', 'AKID'),
  pairRule('razorpay', 'rzp_(?:live|test)_[A-Za-z0-9]{14}', '[A-Za-z0-9]{20,25}', 'rzp_'),
  pairRule(
    'twilio',
    '(?:SK|AC)[0-9a-f]{32}',
    '[A-Za-z0-9]{32}',
    (text) => holdsHex(text, 32) && /(?:SK|AC)[0-9a-f]{32}/.test(text),
  ),
  pairRule('scaleway', 'SCW[A-Z0-9]{17}', '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'SCW'),
  pairRule('google_hmac', 'GOOG[A-Z0-9]{20}(?:[A-Z0-9]{37})?', '[A-Za-z0-9/+]{40}', 'GOOG'),
  pairRule('digitalocean', 'DO00[A-Z0-9]{16}', '[A-Za-z0-9/+]{43}', 'DO00'),
];

/** The id stays for its own rule, which comes after. */
function pairRule(
  ...[name, id, secret, hint]: readonly [string, string, string, NonNullable<MaskRule['hint']>]
): MaskRule {
  return {
    name,
    hint,
    pattern: new RegExp(
      `((?<![A-Za-z0-9])${id}${SECRET_END}${BETWEEN}${ALONE})(${secret})${SECRET_END}`,
      'g',
    ),
    replace: ([whole, before = '', value = '']) => (isMixed(value) ? before + redacted(name) : whole),
  };
}

/** A hash in hex is no secret of these, but for one that is given as a UUID. */
function isMixed(value: string): boolean {
  return value.includes('-') || (/[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value));
}
