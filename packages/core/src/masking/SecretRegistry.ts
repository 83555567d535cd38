import { encodingsOf } from './encodings.ts';
import { KEY_BLOCK_RULES } from './keyBlocks.ts';
import { escapeForRegExp, type IsAllowed, type MaskRule, redacted, tokenRule } from './MaskRule.ts';
import { SECRET_PAIR_RULES } from './secretPairs.ts';
import { isSecretVariable } from './secretVariables.ts';
import { TOKEN_SHAPES } from './tokenShapes.ts';
import { URL_CREDENTIAL_RULES } from './urlCredentials.ts';
import { VENDOR_RULES } from './vendorTokens.ts';

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

function patternForSecrets(values: Iterable<string>): RegExp {
  const forms = new Set([...values].flatMap(encodingsOf));
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(escapeForRegExp).join('|'), 'g');
}

/** True for a text that masks themselves write. */
function isPartOfMark(text: string): boolean {
  return MARKS.some((mark) => mark.includes(text));
}
