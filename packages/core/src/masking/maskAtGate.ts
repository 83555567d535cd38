import { createHmac, randomBytes } from 'node:crypto';
import { GATE_SHAPES } from './gateShapes.ts';
import { type FindingRules, type FoundPlace, findPlaces } from './MaskRule.ts';
import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';
import { asShapes } from './tokenRow.ts';
import { prefixed } from './vendorTokens.ts';

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
