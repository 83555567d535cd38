import { KEY_BLOCK_RULES } from './keyBlocks.ts';
import {
  escapeForRegExp,
  type IsAllowed,
  isPlaceholder,
  type MaskRule,
  redacted,
  tokenRule,
} from './MaskRule.ts';
import { TOKEN_SHAPES } from './tokenShapes.ts';
import { URL_CREDENTIAL_RULES } from './urlCredentials.ts';
import { SECRET_PAIR_RULES, VENDOR_RULES } from './vendorTokens.ts';

/** Shorter values would be found in ordinary words. */
const MIN_LENGTH = 6;

const NAMED = [
  ...KEY_BLOCK_RULES,
  ...SECRET_PAIR_RULES,
  ...URL_CREDENTIAL_RULES,
  ...VENDOR_RULES,
  ...TOKEN_SHAPES,
].flatMap((rule) => ('name' in rule ? [rule.name] : []));

/** Everything a mask leaves behind. A secret that is a part of it could never be masked for good. */
const MARKS = [
  'Bearer [REDACTED]',
  '[API_KEY=REDACTED]',
  '[AWS_KEY=REDACTED]',
  '[SECRET=REDACTED]',
  '://[CREDENTIALS_REDACTED]@',
  ...[...NAMED, 'registered', 'token', 'encoded'].map(redacted),
];

/**
 * Values known to be secret, found wherever they appear: as they are, base64 (also inside a longer base64
 * text), URL-encoded, JSON-escaped and in hex; and values that are never masked.
 */
export class SecretRegistry {
  readonly #values = new Set<string>();
  readonly #allowed = new Set<string>();
  #rule: MaskRule | null = null;
  #longest = 0;
  /** Forms of values that have a line end in them. */
  readonly #ofLines: string[] = [];
  #masksBroadly = false;

  /** Length of the longest form of a registered value, in characters. */
  get longest(): number {
    return this.#longest;
  }

  /** Where a value of several lines begins in a text that goes on with it perhaps; the text's length where none does. */
  unfinishedAt(text: string): number {
    const begun = this.#ofLines.map((form) => {
      const first = form.charAt(0);
      let at = text.indexOf(first, Math.max(0, text.length - form.length + 1));
      while (at !== -1 && !form.startsWith(text.slice(at))) at = text.indexOf(first, at + 1);
      return at === -1 ? text.length : at;
    });
    return Math.min(text.length, ...begun);
  }

  /**
   * Adds a value; forgetting is not offered, since what was once secret may still be in a buffer.
   *
   * @throws RangeError if the value has fewer than 6 characters, or is a word that masks themselves write.
   */
  register(value: string): void {
    if (value.length < MIN_LENGTH) {
      throw new RangeError(`Expected a secret of at least ${MIN_LENGTH} characters, got ${value.length}.`);
    }
    if (isPartOfMark(value)) {
      throw new RangeError(
        `Expected a secret that is no part of a mask, got one of ${value.length} characters.`,
      );
    }
    if (this.#values.has(value)) return;
    this.#values.add(value);
    this.#rule = null;
    for (const form of encodingsOf(value)) {
      this.#longest = Math.max(this.#longest, form.length);
      if (form.includes('\n')) this.#ofLines.push(form);
    }
  }

  /**
   * Registers the values of variables that are named like secrets (`…_API_KEY`, `…_TOKEN`, `DB_PASSWORD_2`), from 8
   * characters on. Common words, paths and URLs without credentials are left out.
   */
  registerFromEnv(env: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(env)) {
      if (value === undefined || this.#allowed.has(value) || isPartOfMark(value)) continue;
      if (isSecretVariable(name, value)) this.register(value);
    }
  }

  /** Never masks this exact value, whichever rule finds it: a key from a vendor's documentation, a test token. */
  allow(value: string): void {
    this.#allowed.add(value);
  }

  /** Applies the broad rules also where texts are scrubbed. There is no way back: what was scrubbed stays scrubbed. */
  maskBroadly(): void {
    this.#masksBroadly = true;
  }

  get masksBroadly(): boolean {
    return this.#masksBroadly;
  }

  /** True for a value given to {@link allow}; `undefined` without any. */
  get isAllowed(): IsAllowed | undefined {
    return this.#allowed.size === 0 ? undefined : (value) => this.#allowed.has(value);
  }

  /** The rule that finds every registered value; empty without any. */
  rules(): readonly MaskRule[] {
    if (this.#values.size === 0) return [];
    this.#rule ??= tokenRule('registered', patternForSecrets(this.#values));
    return [this.#rule];
  }
}

/** The default registry of every masker in this process. */
export const secretRegistry: SecretRegistry = new SecretRegistry();

/** What this process knows to be secret, for the whole process. Nothing of it changes what a graph keeps in its state. */
export interface SecretsOptions {
  /** Registers the values of environment variables that are named like secrets. @defaultValue true */
  readonly fromEnv?: boolean;
  /** Further exact values, of at least 6 characters each: masked wherever they are shown, at gates too, and by `scrub`. */
  readonly values?: readonly string[];
  /** Exact values that are never masked. */
  readonly allow?: readonly string[];
  /**
   * What `scrub`, and with it the pipeline, takes out of texts of models, checks and people: what its own form gives away, or with
   * `'broad'` also what only a name or its randomness does, which changes code and prose that agents write (`password=rules`).
   * Choose it before the first run.
   *
   * @defaultValue 'precise'
   */
  readonly mask?: 'precise' | 'broad';
}

/** @throws RangeError for a value that is too short, a word that masks themselves write, or another `mask`. */
export function registerSecrets(
  { fromEnv = true, values = [], allow = [], mask = 'precise' }: SecretsOptions = {},
  registry: SecretRegistry = secretRegistry,
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  assertMask(mask);
  for (const value of allow) registry.allow(value);
  for (const value of values) registry.register(value);
  if (fromEnv) registry.registerFromEnv(env);
  if (mask === 'broad') registry.maskBroadly();
}

/** For callers without types. */
function assertMask(mask: unknown): void {
  if (mask === 'precise' || mask === 'broad') return;
  throw new RangeError(`Expected secrets.mask to be 'precise' or 'broad', got ${JSON.stringify(mask)}.`);
}

function patternForSecrets(values: Iterable<string>): RegExp {
  const forms = new Set([...values].flatMap(encodingsOf));
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(escapeForRegExp).join('|'), 'g');
}

/** True for a text that masks themselves write. */
function isPartOfMark(text: string): boolean {
  return MARKS.some((mark) => mark.includes(text));
}

/** Shorter parts of an encoded value would be found in ordinary texts. */
const MIN_ENCODED = 6;

/** Every form in which a value is looked for. Not unique. */
function encodingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, 'utf8');
  const escaped = JSON.stringify(value).slice(1, -1);
  return [
    value,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    asciiEscaped(escaped),
    ...urlFormsOf(withoutLoneSurrogates(value)),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64FormsOf(bytes),
  ];
}

/** Half a surrogate pair cannot be URL-encoded; it is written as the bytes of U+FFFD, as UTF-8 does. */
function withoutLoneSurrogates(value: string): string {
  return Buffer.from(value, 'utf8').toString('utf8');
}

/** As JSON writers do that keep to ASCII. */
function asciiEscaped(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function urlFormsOf(value: string): readonly string[] {
  const forms = [
    encodeURIComponent(value),
    encodeURI(value),
    new URLSearchParams({ v: value }).toString().slice(2),
  ];
  const lowerCase = forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()));
  return [...forms, ...lowerCase];
}

/** The part of a base64 text that depends on these bytes only, for each of the three positions in a triple. */
function base64FormsOf(bytes: Buffer): readonly string[] {
  const inner = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const lead = [0, 2, 3][shift] ?? 0;
    const tail = (bytes.length + shift) % 3 === 0 ? 0 : 1;
    return encoded.slice(lead, encoded.length - tail);
  });
  const whole = bytes.toString('base64');
  return [whole, whole.replace(/=+$/, ''), ...inner]
    .filter((text) => text.length >= MIN_ENCODED)
    .flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Shorter values are more likely settings. */
const MIN_VARIABLE = 8;

/** In any place of a name: `DB_PASSWORD_2`, `SECRET_KEY_BASE`. */
const SAYS_SECRET = /(?:^|_)(?:PASSWORD|PASSWD|PASSPHRASE|SECRETS?|CREDENTIALS?|APIKEY)(?:_|$)/i;
/** At the end of a name. `PWD` alone is the working directory. */
const ENDS_SECRET =
  /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_PASS|_PWD|_AUTH|_DSN|_PAT)(?:_\d{1,3})?$/i;
/** About a secret, not one: where it lies, what it is called, how long it lives. */
const ABOUT_SECRET =
  /(?:NAME|URL|URI|FILE|PATH|DIR|ARN|TTL|LENGTH|MIN|MAX|USER|USERNAME|REGION|ENABLED|PROVIDER|BACKEND|TYPE)$/i;

/** Values people write where a secret goes later, and settings. */
const COMMON_WORDS = new Set(
  'changeme change-me change_me disabled enabled required optional password secretsecret undefined anonymous development production localhost testtest test-key test-token test-secret your-key-here your-api-key example placeholder default1 internal external username postgres administrator keychain osxkeychain'.split(
    ' ',
  ),
);

const PATH_OR_URL = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:\\|file:|https?:\/\/[^@]*$)/;

/** Decides by a variable's name and value whether it holds a secret. */
function isSecretVariable(name: string, value: string): boolean {
  const saysSecret = (SAYS_SECRET.test(name) && !ABOUT_SECRET.test(name)) || ENDS_SECRET.test(name);
  return saysSecret && value.length >= MIN_VARIABLE && !isCommon(value);
}

function isCommon(value: string): boolean {
  if (COMMON_WORDS.has(value.toLowerCase()) || PATH_OR_URL.test(value) || isPlaceholder(value)) return true;
  return new Set(value).size < 3 || /^\d{1,9}$/.test(value);
}
