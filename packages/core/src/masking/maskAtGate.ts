import { createHmac, randomBytes } from 'node:crypto';
import { type FindingRules, type FoundPlace, findPlaces } from './MaskRule.ts';
import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';
import { asShapes, END, type TokenRow } from './tokenShapes.ts';
import { prefixed } from './vendorTokens.ts';

// A gate hides nothing that could be a command: letters, digits, `_` and `-` behind a vendor's prefix, of the one length that
// the vendor issues. No shape has a space, a quote, a path or what a shell reads, and none has a lower bound alone.

const LONG_END = '(?![A-Za-z0-9_-])';

/** What is hidden at a gate besides registered values. Adding one: exact lengths only, and a prefix of at least three characters. */
export const GATE_SHAPES: readonly TokenRow[] = [
  ['aws_access_key', 'loose', 'AKIA ASIA ABIA ACCA', `[A-Z0-9]{16}${END}`],
  ['anthropic', 'strict', 'sk-ant-api03- sk-ant-admin01-', `[A-Za-z0-9_-]{93}AA${LONG_END}`],
  ['openai', 'strict', 'sk-', `[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}${END}`],
  ['openrouter', 'strict', 'sk-or-v1-', `[0-9a-f]{64}${END}`],
  ['groq', 'loose', 'gsk_', `[A-Za-z0-9]{52}${END}`],
  ['huggingface', 'loose', 'hf_', `[A-Za-z0-9]{34}${END}`],
  ['replicate', 'loose', 'r8_', `[A-Za-z0-9]{37}${END}`],
  ['langsmith', 'loose', 'lsv2_pt_ lsv2_sk_', `[0-9a-f]{32}_[0-9a-f]{10}${END}`],
  ['google_api_key', 'loose', 'AIza', `[A-Za-z0-9_-]{35}${LONG_END}`],
  ['google_oauth', 'loose', 'GOCSPX-', `[A-Za-z0-9_-]{28}${LONG_END}`],
  ['github', 'loose', 'ghp_ gho_ ghu_ ghs_ ghr_', `[A-Za-z0-9]{36}${END}`],
  ['github', 'loose', 'github_pat_', `[A-Za-z0-9]{22}_[A-Za-z0-9]{59}${END}`],
  ['gitlab', 'loose', 'glpat- gldt- glrt- glptt-', `[A-Za-z0-9_-]{20}${LONG_END}`],
  ['npm', 'loose', 'npm_', `[A-Za-z0-9]{36}${END}`],
  ['rubygems', 'loose', 'rubygems_', `[a-f0-9]{48}${END}`],
  ['digitalocean', 'loose', 'dop_v1_ doo_v1_ dor_v1_', `[a-f0-9]{64}${END}`],
  ['supabase', 'loose', 'sbp_', `[a-f0-9]{40}${END}`],
  ['databricks', 'loose', 'dapi', `[a-f0-9]{32}${END}`],
  ['stripe', 'strict', 'sk_live_ sk_test_ rk_live_ rk_test_', `(?:[A-Za-z0-9]{24}|[A-Za-z0-9]{99})${END}`],
  ['shopify', 'loose', 'shpat_ shpca_ shppa_ shpss_', `[a-fA-F0-9]{32}${END}`],
  ['linear', 'loose', 'lin_api_', `[A-Za-z0-9]{40}${END}`],
  ['grafana', 'loose', 'glsa_', `[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}${END}`],
  ['postman', 'loose', 'PMAK-', `[a-f0-9]{24}-[a-f0-9]{34}${END}`],
  ['pulumi', 'strict', 'pul-', `[0-9a-f]{40}${END}`],
  ['age', 'loose', 'AGE-SECRET-KEY-1', `[0-9A-Z]{58}${END}`],
];

// What is approved must be read, so the rules that guess hide nothing at a gate: `TOKEN="; rm -rf ~" npm test` is shown. Hidden
// are values that somebody registered, which whoever proposes cannot choose, and tokens that hold no command.

/** A place of what a gate shows where something is hidden. */
export interface HiddenPlace {
  /** JSON Pointer to its text (RFC 6901); of the name of a member, to that member. */
  readonly in: string;
  /** Where it begins in the true text, and how long it is: UTF-16 code units. */
  readonly at: number;
  readonly length: number;
  /** Such as `registered` or `github`. */
  readonly name: string;
  /**
   * First 12 hex digits of HMAC-SHA-256, by a key of this process and this gate that is kept nowhere: equal places have equal
   * digests, and nobody can try out what is behind one.
   */
  readonly digest: string;
}

export interface ShownAtGate<T> {
  readonly view: T;
  /** In the order in which they are read. */
  readonly hidden: readonly HiddenPlace[];
  /** What is behind each of them: for whoever it is revealed to. */
  readonly behind: readonly string[];
}

interface GateMaskOptions {
  /** Of the gate: digests of two gates cannot be compared. */
  readonly gate: string;
  readonly registry?: SecretRegistry;
}

const SHAPE_RULES: FindingRules = prefixed(asShapes(GATE_SHAPES));
const PROCESS_KEY = randomBytes(32);

const shownViews = new WeakSet<object>();

/** Whether a value came out of {@link maskAtGate}, itself: then the rules for other output leave it alone. */
export const isShownAtGate = (value: object): boolean => shownViews.has(value);

/**
 * A plain JSON value as a gate shows it: with registered values and tokens of a fixed alphabet and length hidden, each with
 * its length and a digest in its place, `[REDACTED:github:40:9c1f02ab77de]`, and everything else as it is.
 */
export function maskAtGate<T>(
  value: T,
  { gate, registry = secretRegistry }: GateMaskOptions,
): ShownAtGate<T> {
  const mask = new GateMask(createHmac('sha256', PROCESS_KEY).update(gate).digest(), registry);
  const view = mask.value(value) as T;
  if (typeof view === 'object' && view !== null) shownViews.add(view);
  return { view, hidden: mask.hidden, behind: mask.behind };
}

/** Has {@link isShownAtGate} say so of a value that is shown as it is: to a person who asked what is hidden. */
export function leaveAtGate<T extends object>(value: T): T {
  shownViews.add(value);
  return value;
}

/** Where a text has what gates hide, in order. */
export function placesHidden(text: string, registry: SecretRegistry = secretRegistry): readonly FoundPlace[] {
  return findPlaces(text, [...registry.rules(), SHAPE_RULES], registry.isAllowed);
}

/** A text with its hidden places replaced. */
export function withMarks(
  text: string,
  places: readonly FoundPlace[],
  markOf: (place: FoundPlace, index: number) => string,
): string {
  let end = 0;
  const parts = places.map((place, index) => {
    const before = text.slice(end, place.at);
    end = place.at + place.length;
    return before + markOf(place, index);
  });
  return parts.join('') + text.slice(end);
}

/** Of one value: its texts from first to last. */
class GateMask {
  readonly hidden: HiddenPlace[] = [];
  readonly behind: string[] = [];
  readonly #salt: Buffer;
  readonly #registry: SecretRegistry;
  readonly #path: string[] = [];

  constructor(salt: Buffer, registry: SecretRegistry) {
    this.#salt = salt;
    this.#registry = registry;
  }

  value(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((item: unknown, at) => this.#at(String(at), item));
    if (typeof value !== 'object' || value === null || shownViews.has(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.#name(name), this.#at(name, item)]),
    );
  }

  #at(name: string, item: unknown): unknown {
    this.#path.push(name);
    const view = this.value(item);
    this.#path.pop();
    return view;
  }

  #name(name: string): string {
    this.#path.push(name);
    const view = this.#text(name);
    this.#path.pop();
    return view;
  }

  #text(text: string): string {
    const places = placesHidden(text, this.#registry);
    if (places.length === 0) return text;
    return withMarks(text, places, (place) => {
      const secret = text.slice(place.at, place.at + place.length);
      const digest = createHmac('sha256', this.#salt).update(secret).digest('hex').slice(0, 12);
      this.hidden.push({ in: this.#pointer(), ...place, digest });
      this.behind.push(secret);
      return `[REDACTED:${place.name}:${place.length}:${digest}]`;
    });
  }

  /** Names are texts of somebody else: what is hidden in one is not told by where another place is. */
  #pointer(): string {
    const names = this.#path.map((name) => {
      const mark = ({ name: rule, length }: FoundPlace): string => `[REDACTED:${rule}:${length}]`;
      return withMarks(name, placesHidden(name, this.#registry), mark);
    });
    return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  }
}
