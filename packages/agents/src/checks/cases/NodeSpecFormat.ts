import type { TestCase } from '@devs/core';
import { type CaseFormat, CaseList, isSource, nestedName } from './CaseFormat.ts';

const CASE = /^(\s*)([✔✖﹣⚠]) (.*) \(\d[\d.]*ms\)(?: # (SKIP|TODO).*)?$/;
const SUITE = /^(\s*)▶ (.*)$/;

/** The output of `node --test` for people. */
export class NodeSpecFormat implements CaseFormat {
  readonly #list = new CaseList();
  readonly #open: { readonly indent: number; readonly name: string }[] = [];
  #isOver = false;

  line(text: string): void {
    // What follows the counters was told before.
    if (/^ℹ tests \d+/.test(text)) this.#isOver = true;
    if (this.#isOver) return;
    const suite = SUITE.exec(text);
    if (suite !== null) this.#open.push({ indent: suite[1]?.length ?? 0, name: suite[2] ?? '' });
    const found = CASE.exec(text);
    if (found !== null) this.#case(found);
  }

  cases(): readonly TestCase[] | null {
    return this.#isOver ? this.#list.toCases() : null;
  }

  #case([, space = '', mark, name = '', directive]: RegExpExecArray): void {
    const indent = space.length;
    let isSuite = false;
    while ((this.#open.at(-1)?.indent ?? -1) >= indent) isSuite = this.#open.pop()?.name === name || isSuite;
    if (isSuite) return;
    const state = specState(mark, directive);
    const isWhole = state === 'failed' && this.#open.length === 0 && isSource(name);
    this.#list.add(nestedName(...this.#open.map((suite) => suite.name), name), state, isWhole);
  }
}

function specState(mark: string | undefined, directive: string | undefined): TestCase['state'] {
  if (directive !== undefined || mark === '﹣') return 'skipped';
  return mark === '✔' ? 'passed' : 'failed';
}
