import { DevsError } from '../errors/DevsError.ts';
import { isLasting } from '../values/lasting.ts';
import { BROAD_RULES } from './broadRules.ts';
import { encodedRules } from './encodedTexts.ts';
import { KEY_BLOCK_RULES } from './keyBlocks.ts';
import { applyRules, type Masked, type RuleSet } from './MaskRule.ts';
import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';
import { MASK_REACH } from './safeCut.ts';
import { SECRET_PAIR_RULES } from './secretPairs.ts';
import { URL_CREDENTIAL_RULES } from './urlCredentials.ts';
import { VENDOR_RULES } from './vendorTokens.ts';

/** What its own form gives away. */
export const OWN_FORMS: readonly RuleSet[] = [
  ...KEY_BLOCK_RULES,
  ...SECRET_PAIR_RULES,
  ...VENDOR_RULES,
  ...URL_CREDENTIAL_RULES,
];
/** What values were masked by before they entered the state, until they were kept exactly: of runs that were recorded then. */
export const PRECISE_RULES: readonly RuleSet[] = [
  ...OWN_FORMS,
  ...encodedRules((text) => applyRules(text, OWN_FORMS).count > 0),
];

/**
 * Masks what is a secret by its own shape: vendor tokens, private keys, credentials in URLs and connection
 * strings, and registered values. Prose and code (`password=hash(input)`) come back unchanged, so a text can
 * be masked before it is approved and still be what runs (law L5). Where the process chose `secrets: { mask: 'broad' }`, what
 * only a name or its randomness gives away is masked, too.
 *
 * Idempotent and linear in the length of the text.
 */
export function maskPrecise(text: string, registry: SecretRegistry = secretRegistry): Masked<string> {
  return scan(text, scannerOf(registry));
}

/**
 * {@link maskPrecise} for every string in a value, keys included: in plain JSON, maps, sets, errors, and in the messages,
 * documents and other instances that LangChain and LangGraph store.
 *
 * Parts without a secret are returned as they are: `value` is the same object when `count` is 0. An instance with one is
 * copied, with the same class; the one that was given stays as it is. Other instances (dates, bytes, classes that cannot be
 * stored) are left alone.
 *
 * @throws DevsError `VALUE_TOO_LARGE` for a value nested deeper than 1,000 levels, as a cycle is.
 */
export function maskPreciseDeep<T>(json: T, registry: SecretRegistry = secretRegistry): Masked<T> {
  const walk: Walk = { ...scannerOf(registry), depth: 0, count: 0 };
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

/** A text that was clean before is not scanned again: from node to node, little of a state changes. */
function isKnownClean(text: string, { registry }: Scanner): boolean {
  return text.length < MIN_LENGTH || registry.clean.has(text);
}

function scan(text: string, scanner: Scanner): Masked<string> {
  if (isKnownClean(text, scanner)) return { value: text, count: 0 };
  const { rules, registry } = scanner;
  const masked = hasNewSecret(text, scanner)
    ? applyRules(text, rules, registry.isAllowed)
    : { value: text, count: 0 };
  if (masked.count === 0) registry.clean.add(text);
  return masked;
}

/** False if the start of the text is known to be clean, and so is the rest with as much before it as a secret can reach. */
function hasNewSecret(text: string, { rules, registry }: Scanner): boolean {
  const known = registry.clean.cleanStartOf(text);
  if (known === 0) return true;
  const from = Math.max(0, known - Math.max(MASK_REACH, registry.longest));
  return applyRules(text.slice(from), rules, registry.isAllowed).count > 0;
}

/** Levels of arrays and objects: what is deeper cannot be searched for secrets without exhausting the stack. */
const MAX_DEPTH = 1_000;

/** One search through a value. */
interface Walk extends Scanner {
  depth: number;
  /** Secrets found so far. */
  count: number;
}

function maskValue(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string') return maskText(value, walk);
  if (typeof value !== 'object' || value === null) return value;
  if (walk.depth > MAX_DEPTH) throw tooDeep();
  const { clean } = walk.registry;
  if (clean.hasValue(value)) return value;
  const before = walk.count;
  walk.depth += 1;
  const masked = maskContainer(value, walk);
  walk.depth -= 1;
  if (walk.count === before && isLasting(value)) clean.addValue(value);
  return masked;
}

function maskText(text: string, walk: Walk): string {
  if (isKnownClean(text, walk)) return text;
  const { value, count } = scan(text, walk);
  walk.count += count;
  return value;
}

function maskContainer(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return maskArray(value, walk);
  if (isPlainObject(value)) return maskObject(value, walk);
  if (value instanceof Map) return maskMap(value, walk);
  if (value instanceof Set) return maskSet(value, walk);
  return holdsText(value) ? maskInstance(value, walk) : value;
}

function maskArray(items: readonly unknown[], walk: Walk): readonly unknown[] {
  const before = walk.count;
  const masked = items.map((item) => maskValue(item, walk));
  return walk.count === before ? items : masked;
}

function maskObject(object: object, walk: Walk): object {
  const before = walk.count;
  // Lists instead of a pair per property: nearly every object is clean, and its pairs would be thrown away.
  const names = Object.keys(object);
  const keys = names.map((key) => maskText(key, walk));
  const values = Object.values(object).map((value, at) => maskField(names[at] as string, value, walk));
  if (walk.count === before) return object;
  return Object.fromEntries(keys.map((key, at) => [key, values[at]])) as object;
}

/** The engine's own fields (`sessionId`, the `key` of a question) are named by what else may be a secret's name. */
export const SECRET_FIELD: RegExp =
  /(?:password|passwd|pwd|passphrase|secret|token|credentials?|(?:access|api|private|secret|auth)[_-]?key|connection_?string)$/i;

function maskField(key: string, value: unknown, walk: Walk): unknown {
  const masked = maskValue(value, walk);
  if (!walk.registry.masksBroadly || typeof value !== 'string' || masked !== value) return masked;
  if (!SECRET_FIELD.test(key)) return value;
  // As it would stand in a text: there the rules know what follows a name.
  const { count } = scan(`${JSON.stringify(key)}: ${JSON.stringify(value)}`, walk);
  walk.count += count;
  return count === 0 ? value : '[REDACTED]';
}

function maskMap(map: ReadonlyMap<unknown, unknown>, walk: Walk): ReadonlyMap<unknown, unknown> {
  const before = walk.count;
  const pairs = [...map].map(([key, value]) => [maskValue(key, walk), maskValue(value, walk)] as const);
  return walk.count === before ? map : new Map(pairs);
}

function maskSet(set: ReadonlySet<unknown>, walk: Walk): ReadonlySet<unknown> {
  const before = walk.count;
  const items = [...set].map((item) => maskValue(item, walk));
  return walk.count === before ? set : new Set(items);
}

/** A copy with the same prototype. Accessors are kept, not read; what is no text inside is shared. */
function maskInstance(instance: object, walk: Walk): object {
  const before = walk.count;
  const fields = fieldsOf(instance);
  for (const key of Object.keys(fields)) {
    const field = fields[key] as PropertyDescriptor;
    if (key === KWARGS) continue;
    if ('value' in field) field.value = maskValue(field.value, walk);
  }
  const kwargs = fields[KWARGS];
  if (kwargs !== undefined && 'value' in kwargs) {
    // What the constructor was given is there a second time as the fields, and counts once.
    const found = walk.count;
    kwargs.value = maskValue(kwargs.value, walk);
    if (found > before) walk.count = found;
  }
  if (walk.count === before) return instance;
  return Object.create(Object.getPrototypeOf(instance) as object | null, fields) as object;
}

function fieldsOf(instance: object): Record<string, PropertyDescriptor> {
  const fields: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(instance);
  // An accessor in some versions of V8; it would go on reading the error it was made for.
  if (instance instanceof Error && fields['stack'] !== undefined && !('value' in fields['stack'])) {
    fields['stack'] = { value: instance.stack, writable: true, configurable: true, enumerable: false };
  }
  return fields;
}

/** LangChain's name of what an instance's constructor was given. */
const KWARGS = 'lc_kwargs';

/** What is stored with its fields: told by its shape, because this layer knows no class of LangChain. */
function holdsText(value: object): boolean {
  if (value instanceof Error) return true;
  const {
    lc_serializable: isLangChain,
    lg_name: ofLangGraph,
    pageContent,
  } = value as Readonly<Record<string, unknown>>;
  return isLangChain === true || typeof ofLangGraph === 'string' || typeof pageContent === 'string';
}

function tooDeep(): DevsError {
  return new DevsError(`The value is nested deeper than ${MAX_DEPTH} levels, or contains itself.`, {
    code: 'VALUE_TOO_LARGE',
    remedy: 'Store a flatter value: ids that refer to each other instead of a deep tree.',
  });
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
