import { DevsError } from '../errors/DevsError.ts';
import { BROAD_RULES, NAMED_RULES, UNKNOWN_RULES } from './broadRules.ts';
import { encodedRules } from './encodedTexts.ts';
import { runToEnd, type Work } from './inTurns.ts';
import { KEY_BLOCK_RULES } from './keyBlocks.ts';
import { applyRules, type Masked, type RuleSet, redacted } from './MaskRule.ts';
import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';
import { MASK_REACH, type Mask, maskSlices, safeCut } from './safeCut.ts';
import { NEWER_URL_RULES, URL_CREDENTIAL_RULES } from './urlCredentials.ts';
import { NEWER_RULES, SECRET_PAIR_RULES, VENDOR_RULES } from './vendorTokens.ts';

/** What its own form gives away. */
const OWN_FORMS: readonly RuleSet[] = [
  ...KEY_BLOCK_RULES,
  ...SECRET_PAIR_RULES,
  ...VENDOR_RULES,
  ...URL_CREDENTIAL_RULES,
];

/** What values were masked by before they entered the state, until they were kept exactly: of runs that were recorded then. */
const PRECISE_RULES: readonly RuleSet[] = [
  ...OWN_FORMS,
  ...encodedRules((text) => applyRules(text, OWN_FORMS).count > 0),
];

/**
 * Masks what is a secret by its own shape: vendor tokens, private keys, credentials in URLs and connection
 * strings, and registered values. Prose and code (`password=hash(input)`) come back unchanged. Where the process chose
 * `secrets: { mask: 'broad' }`, what only a name or its randomness gives away is masked, too.
 *
 * Idempotent and linear in the length of the text.
 */
export function maskPrecise(text: string, registry: SecretRegistry = secretRegistry): Masked<string> {
  return scan(text, scannerOf(registry));
}

/**
 * {@link maskPrecise} for every string in a plain JSON value, names of members included. What is no plain object or list is left
 * alone.
 *
 * Parts without a secret are returned as they are: `value` is the same object when `count` is 0.
 *
 * @throws DevsError `VALUE_TOO_LARGE` for a value nested deeper than 1,000 levels, as a cycle is.
 */
export function maskPreciseDeep<T>(json: T, registry: SecretRegistry = secretRegistry): Masked<T> {
  const walk: MaskWalk = { ...scannerOf(registry), depth: 0, count: 0 };
  const value = maskValue(json, walk) as T;
  return { value, count: walk.count };
}

interface Scanner {
  readonly rules: readonly RuleSet[];
  readonly registry: SecretRegistry;
}

function scannerOf(registry: SecretRegistry): Scanner {
  const broad = registry.masksBroadly ? BROAD_RULES : [];
  return { rules: [...registry.rules(), ...PRECISE_RULES, ...broad], registry };
}

/** No secret that a rule knows is shorter. */
const MIN_LENGTH = 6;

function scan(text: string, { rules, registry }: Scanner): Masked<string> {
  if (text.length < MIN_LENGTH) return { value: text, count: 0 };
  return applyRules(text, rules, registry.isAllowed);
}

/** Levels of arrays and objects: what is deeper cannot be searched for secrets without exhausting the stack. */
const MAX_DEPTH = 1_000;

/** One search through a value. */
interface MaskWalk extends Scanner {
  depth: number;
  /** Secrets found so far. */
  count: number;
}

function maskValue(value: unknown, walk: MaskWalk): unknown {
  if (typeof value === 'string') return maskText(value, walk);
  if (typeof value !== 'object' || value === null) return value;
  if (walk.depth > MAX_DEPTH) throw maskTooDeep();
  walk.depth += 1;
  const masked = maskContainer(value, walk);
  walk.depth -= 1;
  return masked;
}

function maskText(text: string, walk: MaskWalk): string {
  const { value, count } = scan(text, walk);
  walk.count += count;
  return value;
}

function maskContainer(value: object, walk: MaskWalk): unknown {
  const before = walk.count;
  const masked = Array.isArray(value)
    ? value.map((item) => maskValue(item, walk))
    : isPlainObject(value)
      ? maskObject(value, walk)
      : value;
  return walk.count === before ? value : masked;
}

function maskObject(object: object, walk: MaskWalk): object {
  const members = Object.entries(object).map(([name, value]: [string, unknown]) => [
    maskText(name, walk),
    maskField(name, value, walk),
  ]);
  return Object.fromEntries(members) as object;
}

/** The engine's own fields (`sessionId`, the `key` of a question) are named by what else may be a secret's name. */
export const SECRET_FIELD: RegExp =
  /(?:password|passwd|pwd|passphrase|secret|token|credentials?|(?:access|api|private|secret|auth)[_-]?key|connection_?string)$/i;

function maskField(key: string, value: unknown, walk: MaskWalk): unknown {
  const masked = maskValue(value, walk);
  if (!walk.registry.masksBroadly || typeof value !== 'string' || masked !== value) return masked;
  if (!SECRET_FIELD.test(key)) return value;
  // As it would stand in a text: there the rules know what follows a name.
  const { count } = scan(`${JSON.stringify(key)}: ${JSON.stringify(value)}`, walk);
  walk.count += count;
  return count === 0 ? value : '[REDACTED]';
}

function maskTooDeep(): DevsError {
  return new DevsError(`The value is nested deeper than ${MAX_DEPTH} levels, or contains itself.`, {
    code: 'VALUE_TOO_LARGE',
    remedy: 'Store a flatter value: ids that refer to each other instead of a deep tree.',
  });
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const FORMS: readonly RuleSet[] = [...OWN_FORMS, ...NEWER_RULES, ...NEWER_URL_RULES];

/** Forms come first: another rule's mark could take away what they tell a secret by. */
const SHOWN_RULES: readonly RuleSet[] = [
  ...FORMS,
  ...encodedRules((text) => applyRules(text, FORMS).count > 0 || applyRules(text, NAMED_RULES).count > 0),
  ...NAMED_RULES,
  ...UNKNOWN_RULES,
];

/**
 * Masks everything that looks like a secret or has a secret's name, for output: errors, logs, events.
 *
 * Too broad for control data: `password=rules` becomes `[SECRET=REDACTED]`. Idempotent. Time is linear in the length of
 * the text.
 *
 * @param registry - Registered values to mask too; a number is ignored, so that `texts.map(maskSensitiveData)` works.
 *
 * @example
 * ```ts
 * maskSensitiveData('Authorization: Bearer abc.def'); // → 'Authorization: Bearer [REDACTED]'
 * ```
 */
export function maskSensitiveData(text: string, registry: SecretRegistry | number = secretRegistry): string {
  return runToEnd(maskingOf(text, typeof registry === 'number' ? secretRegistry : registry));
}

/** {@link maskSensitiveData} in pieces of work. */
export function maskingOf(text: string, registry: SecretRegistry = secretRegistry): Work<string> {
  const rules = [...registry.rules(), ...SHOWN_RULES];
  return maskSlices(text, (slice) => applyRules(slice, rules, registry.isAllowed).value, {
    reach: Math.max(MASK_REACH, registry.longest + 1),
  });
}

/** What is longer was cut. */
const CUT = '…';

const broad: Mask = (text) => maskSensitiveData(text);

/**
 * The beginning of a text, masked: at most `limit` characters are looked at and shown, and one reach more to see that no secret
 * is cut in two. A text of any length takes no time.
 */
export function maskStart(text: string, limit: number, mask: Mask = broad): string {
  if (text.length <= limit) return mask(text);
  const read = text.slice(0, limit + MASK_REACH);
  const cut = safeCut(read, { from: Math.floor(limit / 2), to: limit }, mask);
  return (cut === null ? redacted('overlong') : cut.head) + CUT;
}

/** Characters after the reach in which a place to cut is looked for first. */
const NEAR = 1024;

/**
 * Masks a text whose beginning was cut off, as the tail of a log is: what may be the rest of a secret at its front is
 * left out, about {@link MASK_REACH} characters.
 */
export function maskCutText(text: string): string {
  if (text.length <= MASK_REACH) return '';
  const mask: Mask = (part) => maskSensitiveData(part);
  for (const to of [MASK_REACH + NEAR, 2 * MASK_REACH, text.length]) {
    const cut = safeCut(text, { from: MASK_REACH - 1, to: Math.min(to, text.length) }, mask);
    if (cut !== null) return cut.rest;
  }
  return redacted('overlong');
}
