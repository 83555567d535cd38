import type { TestCase } from '@devs/core';
import { type CaseFormat, CaseList, isSource, nestedName } from './CaseFormat.ts';

const POINT = /^(\s*)(not )?ok (\d+)(?: -)?(?: (.*?))?(?: # (SKIP|TODO|time=\S+)\b.*?)?( \{)?$/i;
const COUNTER = /^# (?:tests|suites|pass|fail|cancelled|skip|skipped|todo|ok|duration_ms)\b/;

/** TAP 13 and 14: node:test, AVA, Mocha, Vitest, tape (whose points are assertions: a comment names their case). */
export class TapFormat implements CaseFormat {
  readonly #list = new CaseList();
  /** Suites that are open, by how deep they are indented. */
  readonly #open: { readonly indent: number; readonly name: string; hasPoints: boolean }[] = [];
  #comment = '';
  #sawHeader = false;
  #sawPlan = false;
  #hasSubtests = false;
  #inDetails: string | null = null;

  line(text: string): void {
    if (this.#isDetail(text)) return;
    const isHeader = /^TAP version 1[34]$/.test(text);
    if (isHeader || /^1\.\.\d+/.test(text)) this.#begin(isHeader);
    const subtest = /^(\s*)# Subtest: (.*)$/.exec(text);
    if (subtest !== null) {
      this.#hasSubtests = true;
      this.#comment = ''; // printed by a file that did not load
      this.#enter(subtest[1]?.length ?? 0, subtest[2] ?? '');
      return;
    }
    if (/^# \S/.test(text)) this.#comment = COUNTER.test(text) || !this.#hasComments() ? '' : text.slice(2);
    const point = POINT.exec(text);
    if (point !== null) this.#point(point);
  }

  cases(): readonly TestCase[] | null {
    if (!this.#sawHeader) return null;
    // Where nothing counts the cases at the end, the process ended in the one that was named last.
    if (!this.#sawPlan) this.#list.add(this.#comment, 'failed', true);
    return this.#list.toCases();
  }

  /** @param isHeader - Of one more program, where a script runs several; else it is the plan. */
  #begin(isHeader: boolean): void {
    this.#sawHeader = true;
    this.#sawPlan = !isHeader;
  }

  /** Whether comments name cases, and are not what tests printed. */
  #hasComments(): boolean {
    return !this.#hasSubtests && !this.#sawPlan;
  }

  /** What stands between `---` and `...` is about the point above it. */
  #isDetail(text: string): boolean {
    if (this.#inDetails !== null) {
      if (text === `${this.#inDetails}...`) this.#inDetails = null;
      return true;
    }
    const begin = /^(\s+)---$/.exec(text);
    if (begin !== null) this.#inDetails = begin[1] ?? '';
    return begin !== null;
  }

  #enter(indent: number, name: string): void {
    this.#closeFrom(indent);
    this.#open.push({ indent, name: unescapeName(name), hasPoints: false });
  }

  #point([, space = '', not, , label = '', directive = '', brace]: RegExpExecArray): void {
    const indent = space.length;
    const name = unescapeName(label);
    const own = this.#open.find((suite) => suite.indent === indent && suite.name === name);
    const isSuite = own?.hasPoints === true;
    this.#closeFrom(indent);
    for (const suite of this.#open) suite.hasPoints = true;
    const path = nestedName(
      ...this.#open.map((suite) => suite.name),
      this.#comment,
      this.#comment === '' ? name : '',
    );
    if (brace !== undefined) this.#enter(indent, name);
    else if (!isSuite) {
      const isWhole = not !== undefined && isSource(path);
      this.#list.add(path, tapState(not !== undefined, directive), isWhole);
    }
  }

  #closeFrom(indent: number): void {
    while ((this.#open.at(-1)?.indent ?? -1) >= indent) this.#open.pop();
  }
}

function tapState(isNot: boolean, directive: string): TestCase['state'] {
  if (/^(?:skip|todo)/i.test(directive)) return 'skipped';
  return isNot ? 'failed' : 'passed';
}

const unescapeName = (name: string): string => name.replaceAll(/\\([#\\])/g, '$1').trim();
