import { BROAD_RULES } from './broadRules.ts';
import { BASE64 } from './fastFind.ts';
import { runToEnd } from './inTurns.ts';
import { KEY_BLOCK_RULES } from './keyBlocks.ts';
import { applyRules, type Masked, type RuleSet } from './MaskRule.ts';
import { mapTexts, membersOf, objectOf, type Parts, pairsOf } from './mapTexts.ts';
import { SECRET_FIELD } from './maskSensitiveData.ts';
import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';
import { maskSlices } from './safeCut.ts';
import { NEWER_URL_RULES, URL_CREDENTIAL_RULES } from './urlCredentials.ts';
import { FIXED_RULES } from './vendorTokens.ts';

/** A form of their own that nothing else has: neither what a name gives away nor what only looks random. */
const SCRUB_RULES: readonly RuleSet[] = [
  ...KEY_BLOCK_RULES,
  ...FIXED_RULES,
  ...URL_CREDENTIAL_RULES,
  ...NEWER_URL_RULES,
];

/**
 * Removes secrets with a known form (a vendor's prefix, a key block, credentials in a URL) and registered values from a
 * text or a plain value, and counts them. Use it for texts of models and checks before they enter a graph's state. With
 * `secrets.mask: 'broad'`, it also uses names and randomness. A clean value is returned unchanged.
 *
 * Bytes stay unchanged in every form: more than 200 characters of base64, a `data:` URL, a content block of an image, a
 * file or a sound, a `Uint8Array`; and so do instances of classes, and getters.
 *
 * @throws DevsError `VALUE_TOO_LARGE` for a value that contains itself.
 *
 * @example
 * ```ts
 * const answer = await step('ask', () => model.invoke(prompt));
 * return { answer: scrub(answer.text).value };
 * ```
 */
export function scrub<T>(value: T, registry: SecretRegistry = secretRegistry): Masked<T> {
  let count = 0;
  const text = (given: string, name: string): string => {
    const scrubbed = scrubText(given, registry);
    const isNamed = scrubbed.count === 0 && registry.masksBroadly && isNamedSecret(given, name);
    count += isNamed ? 1 : scrubbed.count;
    return isNamed ? '[REDACTED]' : scrubbed.value;
  };
  const scrubbed = runToEnd(mapTexts(value, '', { text, partsOf: containerParts }));
  return { value: scrubbed as T, count };
}

function scrubText(text: string, registry: SecretRegistry): Masked<string> {
  const known = withoutRegistered(text, registry);
  let { value: out, count } = { value: '', count: known.count };
  const rules = registry.masksBroadly ? [...SCRUB_RULES, ...BROAD_RULES] : SCRUB_RULES;
  const mask = (part: string): string => applyRules(part, rules, registry.isAllowed).value;
  let end = 0;
  for (const { from, to } of [
    ...keptSpans(known.value),
    { from: known.value.length, to: known.value.length },
  ]) {
    const between = known.value.slice(end, from);
    const masked = runToEnd(maskSlices(between, mask));
    count += masked === between ? 0 : Math.max(1, marksIn(masked) - marksIn(between));
    out += masked + known.value.slice(from, to);
    end = to;
  }
  return { value: count === 0 ? text : out, count };
}

const marksIn = (text: string): number => text.match(/REDACTED/g)?.length ?? 0;

/** A registered value that is a part of a long run of base64 is one by chance. */
function withoutRegistered(text: string, registry: SecretRegistry): Masked<string> {
  const rules = registry.rules();
  if (rules.length === 0) return { value: text, count: 0 };
  let kept: readonly Span[] | null = null;
  const outside = rules.map((rule) => ({
    ...rule,
    replace: (match: RegExpExecArray): string => {
      kept ??= keptSpans(text);
      const [from, to] = [match.index, match.index + match[0].length];
      const isPart = kept.some(
        (span) => span.from <= from && to <= span.to && to - from < span.to - span.from,
      );
      return isPart ? match[0] : rule.replace(match, text);
    },
  }));
  return applyRules(text, outside, registry.isAllowed);
}

/** Types of content blocks of LangChain and of the providers that hold bytes, or say where they are. */
const BYTES = /^(?:input_|output_)?(?:image|image_url|audio|video|file|media)$/;
const HOLDS_BYTES = [
  'data',
  'url',
  'image_url',
  'source',
  'source_type',
  'fileId',
  'file_id',
  'file',
  'file_data',
  'input_audio',
  'audio',
];

function isBlockOfBytes(value: object): boolean {
  const { type } = value as { readonly type?: unknown };
  return (
    typeof type === 'string' && BYTES.test(type) && HOLDS_BYTES.some((name) => Object.hasOwn(value, name))
  );
}

/** Of lists, plain objects, maps and sets; what has the same parts afterwards is the same value. */
function containerParts(value: object): Parts | null {
  if (isBlockOfBytes(value)) return null;
  if (Array.isArray(value)) return sameOrRebuilt(value, listParts(value), (items) => items);
  if (value instanceof Map)
    return sameOrRebuilt(value, membersOf([...value]), (items) => new Map(pairsOf(items)));
  if (value instanceof Set) return sameOrRebuilt(value, listParts([...value]), (items) => new Set(items));
  return isDataObject(value) ? sameOrRebuilt(value, membersOf(Object.entries(value)), objectOf) : null;
}

const listParts = (items: readonly unknown[]): Omit<Parts, 'build'> => ({ items, nameOf: () => '' });

function sameOrRebuilt(value: object, parts: Omit<Parts, 'build'>, build: Parts['build']): Parts {
  const isSame = (items: readonly unknown[]): boolean =>
    items.every((item, at) => item === parts.items[at] || Number.isNaN(item));
  return { ...parts, build: (items) => (isSame(items) ? value : build(items)) };
}

/** Without accessors: calling one may do anything. */
function isDataObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.values(Object.getOwnPropertyDescriptors(value)).every((property) => 'value' in property);
}

/** As it would stand in a text: there the rules know what follows a name. Of a long text, the beginning says it. */
function isNamedSecret(text: string, name: string): boolean {
  if (!SECRET_FIELD.test(name)) return false;
  return (
    applyRules(`${JSON.stringify(name)}: ${JSON.stringify(text.slice(0, NAMED_REACH))}`, BROAD_RULES).count >
    0
  );
}

const NAMED_REACH = 1_024;

/** Longer runs of base64 are pictures, archives or ciphertext: whoever changes a character has destroyed them. */
const LONGEST_TOKEN = 200;

/** The beginning of a `data:` URL, up to its comma. */
const DATA_URL = /data:(?:[A-Za-z]{1,32}\/[^\s,;"'`<>]{1,127})?(?:;[^\s,;"'`<>]{1,127}){0,8},/g;
const AFTER_DATA_URL = /[\s"'`<>)\]}\\]/;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Where a text holds bytes that are written as text: runs of more than 200 characters of base64, and `data:` URLs; in order. */
function keptSpans(text: string): readonly Span[] {
  const spans = [...longRuns(text), ...dataUrls(text)].sort((a, b) => a.from - b.from);
  const apart: Span[] = [];
  for (const span of spans) {
    const last = apart.at(-1);
    if (last === undefined || span.from >= last.to) apart.push(span);
    else apart[apart.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
  }
  return apart;
}

/** A long run has one of every so many characters of the text. */
function* longRuns(text: string): Generator<Span> {
  const is = (at: number): boolean => at >= 0 && at < text.length && BASE64[text.charCodeAt(at)] === 1;
  let done = 0;
  for (let at = LONGEST_TOKEN; at < text.length; at = Math.max(at, done) + LONGEST_TOKEN) {
    if (!is(at)) continue;
    let [from, to] = [at, at + 1];
    while (from > done && is(from - 1)) from -= 1;
    while (is(to)) to += 1;
    done = to;
    if (to - from <= LONGEST_TOKEN) continue;
    while (text[to] === '=' && to - done < 2) to += 1;
    done = to;
    yield { from, to };
  }
}

function* dataUrls(text: string): Generator<Span> {
  for (const { 0: opening, index } of text.matchAll(DATA_URL)) {
    let to = index + opening.length;
    while (to < text.length && !AFTER_DATA_URL.test(text[to] as string)) to += 1;
    yield { from: index, to };
  }
}
