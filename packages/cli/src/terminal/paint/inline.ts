import type { Look } from './look.ts';
import { withLook } from './look.ts';
import type { TextRange } from './wrap.ts';

/** A line of Markdown with the look of each of its units (UTF-16). */
export class Inline {
  readonly text: string;
  readonly #looks: (Look | undefined)[];

  /** Code and what is strong look so; the rest looks like `base`. Every character stays, the marks too. */
  constructor(text: string, base?: Look) {
    this.text = text;
    this.#looks = new Array(text.length).fill(base);
    const code = codeSpans(text);
    for (const [from, to] of strongSpans(text, code)) this.#looks.fill('bold', from, to);
    for (const [from, to] of code) this.#looks.fill('code', from, to);
  }

  /** Gives a stretch another look. */
  mark([from, to]: TextRange, look: Look): void {
    this.#looks.fill(look, from, to);
  }

  /** A stretch of it, with the codes of its looks. */
  painted([from, to]: TextRange): string {
    const painted: string[] = [];
    for (let start = from; start < to; ) {
      let end = start + 1;
      while (end < to && this.#looks[end] === this.#looks[start]) end += 1;
      painted.push(withLook(this.#looks[start], this.text.slice(start, end)));
      start = end;
    }
    return painted.join('');
  }
}

/** What is between two equal runs of backticks, with them. */
function codeSpans(text: string): readonly TextRange[] {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ index, length }));
  // The next run of the same length, found from the end: a line of nothing but backticks takes no longer.
  const next: (number | undefined)[] = [];
  const last = new Map<number, number>();
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const length = runs[at]?.length ?? 0;
    next[at] = last.get(length);
    last.set(length, at);
  }
  const spans: TextRange[] = [];
  for (let at = 0; at < runs.length; at += 1) {
    const [open, close] = [runs[at], runs[next[at] ?? -1]];
    if (open === undefined || close === undefined) continue;
    spans.push([open.index, close.index + close.length]);
    at = next[at] ?? at;
  }
  return spans;
}

/** What is between two marks of strong text outside of code, with them. */
function strongSpans(text: string, code: readonly TextRange[]): readonly TextRange[] {
  const spans: TextRange[] = [];
  let open: number | null = null;
  let span = 0;
  for (const { index } of text.matchAll(/\*\*/g)) {
    while ((code[span]?.[1] ?? text.length) <= index) span += 1;
    if ((code[span]?.[0] ?? text.length) <= index) continue;
    if (open !== null && /\S/.test(text.charAt(index - 1))) {
      spans.push([open, index + 2]);
      open = null;
    } else if (/\S/.test(text.charAt(index + 2))) {
      open = index;
    }
  }
  return spans;
}
