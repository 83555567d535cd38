/** A text after masking, and how many places were replaced. */
export interface Masked<T> {
  readonly value: T;
  readonly count: number;
}

/**
 * One family of secrets: a global pattern and what takes the secret's place.
 *
 * Invariants every rule keeps:
 *   M1. Linear: no nested quantifiers; a run that can fail has one possible start (left boundary) or a bound.
 *   M2. Idempotent: what a replacement leaves behind is not matched by any rule again.
 */
export interface MaskRule {
  readonly name: string;
  readonly pattern: RegExp;
  /** Literals of which every match holds at least one: a text without them is not searched. */
  readonly hints?: readonly string[];
  /** Returns the replacement; returning the match itself means "not a secret". */
  readonly replace: (match: RegExpExecArray, text: string) => string;
}

/** A rule that replaces the whole match. */
export function tokenRule(name: string, pattern: RegExp, hints?: readonly string[]): MaskRule {
  const rule = { name, pattern, replace: () => redacted(name) };
  return hints === undefined ? rule : { ...rule, hints };
}

/** The mark left in place of a secret of a given family. */
export function redacted(name: string): string {
  return `[REDACTED:${name}]`;
}

/** True for a text that a mask has already replaced, or that only says where a value goes. */
export function isPlaceholder(value: string): boolean {
  return MARK.test(value) || PLACEHOLDER.test(value);
}

const MARK = /^["'`\\]{0,4}(?:\[(?:[A-Z_]{2,32}=)?)?(?:CREDENTIALS_)?REDACTED[\]:]/;
const PLACEHOLDER =
  /^(?:\$\{[^}]{0,64}\}|\$[A-Z_][A-Z0-9_]{0,63}|\{\{?[^}]{0,64}\}?\}|<[^>]{0,64}>|\*{3,}|x{3,}|\.{3,}|…)$/;

/** Applies the rules one after the other. */
export function applyRules(text: string, rules: readonly MaskRule[]): Masked<string> {
  let value = text;
  let count = 0;
  for (const rule of rules) {
    const result = applyRule(value, rule);
    value = result.value;
    count += result.count;
  }
  return { value, count };
}

function applyRule(text: string, { pattern, replace, hints }: MaskRule): Masked<string> {
  let count = 0;
  if (hints !== undefined && !hints.some((hint) => text.includes(hint))) return { value: text, count };
  let from = 0;
  let out = '';
  for (const match of text.matchAll(pattern)) {
    const replacement = replace(match, text);
    if (replacement === match[0]) continue;
    out += text.slice(from, match.index) + replacement;
    from = match.index + match[0].length;
    count += 1;
  }
  return count === 0 ? { value: text, count } : { value: out + text.slice(from), count };
}
