import { holdsLiteral, type TextEdit, textBecame, type WordStarts } from './fastFind.ts';

/** A text after masking, and how many places were replaced. */
export interface Masked<T> {
  readonly value: T;
  readonly count: number;
}

/**
 * One family of secrets: a pattern and what takes the secret's place.
 *
 * Invariants every rule keeps:
 *   M1. Linear: no nested quantifiers; a run that can fail has one possible start (left boundary) or a bound.
 *   M2. Idempotent: what a replacement leaves behind is not matched by any rule again.
 */
export interface MaskRule {
  readonly name: string;
  /** Global; sticky inside {@link AnchoredRules}. */
  readonly pattern: RegExp;
  /** Every match holds one of these literals, or passes this test; a text without them is not searched. */
  readonly hint?: string | readonly string[] | ((text: string) => boolean);
  /** What `pattern` finds, sooner. */
  readonly find?: (text: string) => Iterable<RegExpExecArray>;
  /** Inside {@link AnchoredRules}: no rule of the set looks into what this one has judged, or long values cost too much. */
  readonly claims?: true;
  /** Returns the replacement; returning the match itself means "not a secret". */
  readonly replace: (match: RegExpExecArray, text: string) => string;
}

/**
 * Rules that are tried only where one of some words stands: one search for all of them instead of one for every rule.
 * The first rule that replaces something wins.
 */
export interface AnchoredRules {
  /** Where one may stand. */
  readonly starts: WordStarts;
  /** The word that stands there; `null` for none. */
  readonly wordAt: (text: string, index: number) => string | null;
  /** The rules for a word at a place; they begin where it does. */
  readonly rulesFor: (word: string, text: string, index: number) => readonly MaskRule[];
}

/** Rules that have work only where others have replaced something. */
export interface RulesAgain {
  readonly again: readonly RuleSet[];
}

/** Rules that say where they find something. */
export type FindingRules = MaskRule | AnchoredRules;

export type RuleSet = FindingRules | RulesAgain;

/** True for a value that is never masked, although a rule finds it. */
export type IsAllowed = (value: string) => boolean;

/** A rule that replaces the whole match. */
export function tokenRule(name: string, pattern: RegExp, hint?: MaskRule['hint']): MaskRule {
  return { name, pattern, replace: () => redacted(name), ...(hint !== undefined && { hint }) };
}

/** A text as a pattern that finds it, wherever it stands in a pattern. */
export function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The mark left in place of a secret of a given family. */
export function redacted(name: string): string {
  return `[REDACTED:${name}]`;
}

/** True for a text that a mask has already replaced as a whole, or that only says where a value goes. */
export function isPlaceholder(value: string): boolean {
  return INSIDE_MARK.test(value) || MARKS.test(value) || PLACEHOLDER.test(value) || WORDS.test(value);
}

/** The rest of a mark that is read as a name and its value: `API_KEY=REDACTED]`. */
const INSIDE_MARK = /^(?:CREDENTIALS_)?REDACTED[\]:]/;
/** `[REDACTED]hunter2` is none: somebody may have written the mark there. */
const MARKS =
  /^[^A-Za-z0-9[]{0,8}(?:\[(?:[A-Z_]{2,32}=)?(?:CREDENTIALS_)?REDACTED(?::[a-z0-9_]{1,32}(?::\d{1,8}:[0-9a-f]{8,12})?)?\][^A-Za-z0-9[]{0,8})+$/;
const REFERENCES = [
  '\\$\\{\\{?[^}]{0,64}\\}{1,2}',
  '\\$\\([^)]{0,128}\\)?',
  '\\$(?:env:)?(?:[A-Z_][A-Z0-9_]{0,63}|[a-z_]{1,63})',
  '%[A-Z_][A-Z0-9_]{0,63}%',
  '[#@]?\\{\\{?[^}]{0,64}\\}?\\}',
  '<[^>]{0,64}>',
  '\\*{3,}',
  'x{3,}',
  'X{3,}',
  '[A-Za-z][A-Za-z0-9_-]{0,24}[_-](?:\\.{3,}|…|x{6,}|X{6,}|\\*{3,})',
  '\\.{3,}',
  '_{3,}',
  '…',
].join('|');
const PLACEHOLDER = new RegExp(`^["'\`\\\\]{0,4}(?:${REFERENCES})[\\s"'\`)\\]},;.]{0,8}$`);
/** `your-api-key-here`, `<token>`, `changeme`: words that ask for a value. */
const WORDS =
  /^["'`\\]{0,4}(?:(?:your|insert|replace|enter|paste)[A-Za-z_-]{0,64}|[A-Za-z_-]{1,64}[_-]here|change[_-]?(?:me|this|it)|placeholder|redacted|todo|tbd|fixme|dummy|masked|hidden|omitted|removed|USER_?NAME|PASS_?WORD)[\s"'`)\]},;.]{0,8}$/i;

/** Applies the rules one after the other. */
export function applyRules(text: string, rules: readonly RuleSet[], isAllowed?: IsAllowed): Masked<string> {
  let value = text;
  let count = 0;
  for (const rule of rules) {
    if ('again' in rule) {
      const again = count === 0 ? null : applyRules(value, rule.again, isAllowed);
      value = again?.value ?? value;
      count += again?.count ?? 0;
      continue;
    }
    const splice = spliced(value, rule, isAllowed);
    if (splice.places.length === 0) continue;
    const before = value;
    value = splice.toString();
    textBecame(before, value, splice.places);
    count += splice.places.length;
  }
  return { value, count };
}

/** Where a rule finds something in a text, in UTF-16 code units. */
export interface FoundPlace {
  readonly at: number;
  readonly length: number;
  readonly name: string;
}

/** Where the rules find something, each looked for in the text as it is; what overlaps is one place, named by what begins it. */
export function findPlaces(
  text: string,
  rules: readonly FindingRules[],
  isAllowed?: IsAllowed,
): readonly FoundPlace[] {
  const found = rules.flatMap((rule) =>
    spliced(text, rule, isAllowed).places.map(({ at, length, name }): FoundPlace => ({ at, length, name })),
  );
  const places: FoundPlace[] = [];
  for (const place of found.sort((a, b) => a.at - b.at || b.length - a.length)) {
    const last = places.at(-1);
    if (last === undefined || place.at >= last.at + last.length) places.push(place);
    else {
      const end = Math.max(last.at + last.length, place.at + place.length);
      places[places.length - 1] = { ...last, length: end - last.at };
    }
  }
  return places;
}

function spliced(text: string, rule: FindingRules, isAllowed: IsAllowed | undefined): Splice {
  const splice = new Splice(text);
  if ('starts' in rule) applyAnchored(splice, rule, isAllowed);
  else applyRule(splice, rule, isAllowed);
  return splice;
}

function applyRule(splice: Splice, rule: MaskRule, isAllowed: IsAllowed | undefined): void {
  if (rule.hint !== undefined && !hintHolds(splice.text, rule.hint)) return;
  const matches = rule.find?.(splice.text) ?? splice.text.matchAll(rule.pattern);
  for (const match of matches) splice.replace(match, rule, isAllowed);
}

function hintHolds(text: string, hint: NonNullable<MaskRule['hint']>): boolean {
  if (typeof hint === 'string') return holdsLiteral(text, hint);
  return typeof hint === 'function' ? hint(text) : hint.some((literal) => holdsLiteral(text, literal));
}

function applyAnchored(
  splice: Splice,
  { starts, wordAt, rulesFor }: AnchoredRules,
  isAllowed: IsAllowed | undefined,
): void {
  const { text } = splice;
  let from = 0;
  // Anchors may overlap: "xoxb-…" begins inside "\nxoxb-…".
  for (const index of starts.in(text)) {
    if (index < from) continue;
    const word = wordAt(text, index);
    if (word === null) continue;
    for (const rule of rulesFor(word, text, index)) {
      rule.pattern.lastIndex = index;
      const match = rule.pattern.exec(text);
      if (match === null) continue;
      const isReplaced = splice.replace(match, rule, isAllowed);
      if (!isReplaced && rule.claims !== true) continue;
      from = index + match[0].length;
      break;
    }
  }
}

/** The secret in a match: a rule's second group, what follows its label, or all of it; without quotes. */
function secretIn([whole, label = '', value]: RegExpExecArray): string {
  const secret = value ?? (whole.startsWith(label) ? whole.slice(label.length) : whole);
  return secret.replace(/^[\\"'`]{1,4}|[\\"'`]{1,4}$/g, '');
}

/** A text with places replaced from left to right. */
class Splice {
  readonly text: string;
  readonly places: (FoundPlace & TextEdit)[] = [];
  /** Where the last replaced place ends, in `text`. */
  end = 0;
  readonly #out: string[] = [];

  constructor(text: string) {
    this.text = text;
  }

  replace(match: RegExpExecArray, rule: MaskRule, isAllowed: IsAllowed | undefined): boolean {
    const replacement = rule.replace(match, this.text);
    if (replacement === match[0] || isAllowed?.(secretIn(match)) === true) return false;
    this.#out.push(this.text.slice(this.end, match.index), replacement);
    this.end = match.index + match[0].length;
    this.places.push({ at: match.index, length: match[0].length, now: replacement.length, name: rule.name });
    return true;
  }

  toString(): string {
    return this.places.length === 0 ? this.text : this.#out.join('') + this.text.slice(this.end);
  }
}
