import { type MaskRule, tokenRule } from './MaskRule.ts';

/** Shorter values would be found in ordinary words. */
const MIN_LENGTH = 6;

const SENSITIVE_VARIABLE =
  /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIALS?|_AUTH|_DSN|_PAT)$/i;
/** From environment variables, where a short value is more likely a setting than a secret. */
const MIN_VARIABLE_LENGTH = 8;

/**
 * Values known to be secret, found wherever they appear: as they are, base64 (also inside a longer base64
 * text), URL-encoded, JSON-escaped and in hex.
 */
export class SecretRegistry {
  readonly #values = new Set<string>();
  #rule: MaskRule | null = null;

  /**
   * Adds a value; forgetting is not offered, since what was once secret may still be in a buffer.
   *
   * @throws RangeError if the value has fewer than 6 characters.
   */
  register(value: string): void {
    if (value.length < MIN_LENGTH) {
      throw new RangeError(`Expected a secret of at least ${MIN_LENGTH} characters, got ${value.length}.`);
    }
    if (this.#values.has(value)) return;
    this.#values.add(value);
    this.#rule = null;
  }

  /** Registers the values of variables that are named like secrets (`…_API_KEY`, `…_TOKEN`, …). */
  registerFromEnv(env: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(env)) {
      if (value === undefined || value.length < MIN_VARIABLE_LENGTH) continue;
      if (SENSITIVE_VARIABLE.test(name)) this.register(value);
    }
  }

  /** The rule that finds every registered value; empty without any. */
  rules(): readonly MaskRule[] {
    if (this.#values.size === 0) return [];
    this.#rule ??= tokenRule('registered', patternOf(this.#values));
    return [this.#rule];
  }
}

/** The registry every masker uses unless it is given another one. */
export const secretRegistry: SecretRegistry = new SecretRegistry();

function patternOf(values: Iterable<string>): RegExp {
  const variants = new Set([...values].flatMap(variantsOf));
  const longestFirst = [...variants].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(escapeForRegExp).join('|'), 'g');
}

function variantsOf(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const bytes = Buffer.from(value, 'utf8');
  const variants = [value, escaped, JSON.stringify(escaped).slice(1, -1), encodeURIComponent(value)];
  variants.push(new URLSearchParams({ v: value }).toString().slice(2), bytes.toString('hex'));
  return [...variants, ...base64VariantsOf(bytes)];
}

/** The part of a base64 text that depends on these bytes only, for each of the three positions in a triple. */
function base64VariantsOf(bytes: Buffer): string[] {
  const inner = [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const lead = [0, 2, 3][shift] ?? 0;
    const tail = (bytes.length + shift) % 3 === 0 ? 0 : 1;
    return encoded.slice(lead, encoded.length - tail);
  });
  const whole = bytes.toString('base64');
  return [whole, whole.replace(/=+$/, ''), ...inner]
    .filter((text) => text.length >= MIN_LENGTH)
    .flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
