import type { TestCase } from '@devs/core';
import type { CaseFormat } from './CaseFormat.ts';
import { CaseList, nested } from './CaseList.ts';

const CASE = /^(\s{2,})(✔|✓|✘ \[fail\]:|✖|\d+\)|- \[skip\]|- \[todo\]|-) (.*?)(?: \(\d[\d.]*m?s\))?$/;
/** AVA and Mocha sum up before they tell what went wrong. */
const OVER = /^\s{2}(?:─|\d+ passing|\d+ tests? (?:passed|failed)|\d+ pending)/;
const UNCAUGHT = /^\s{2}(?:Uncaught exception in|✘ No tests found in|✘ ) ?(\S+\.[cm]?[jt]sx?)\b/;

/** Cases as a tree: Mocha's `spec`, and AVA's own. */
export class TreeFormat implements CaseFormat {
  readonly #list = new CaseList();
  readonly #suites: { readonly indent: number; readonly name: string }[] = [];
  #isOver = false;

  line(text: string): void {
    const broken = UNCAUGHT.exec(text);
    if (broken !== null) this.#list.add(broken[1] ?? '', 'failed', true);
    if (OVER.test(text)) this.#isOver = true;
    if (!this.#isOver && broken === null && text.trim() !== '') this.#tree(text);
  }

  #tree(text: string): void {
    const indent = text.length - text.trimStart().length;
    while ((this.#suites.at(-1)?.indent ?? -1) >= indent) this.#suites.pop();
    const found = CASE.exec(text);
    if (found !== null) this.#case(found[2] ?? '', found[3] ?? '');
    else if (indent >= 2 && indent % 2 === 0) this.#suites.push({ indent, name: text.trim() });
  }

  cases(): readonly TestCase[] | null {
    return this.#isOver ? this.#list.toCases() : null;
  }

  #case(mark: string, name: string): void {
    const state = mark.startsWith('-') ? 'skipped' : /[✔✓]/.test(mark) ? 'passed' : 'failed';
    this.#list.add(nested(...this.#suites.map((suite) => suite.name), name), state);
  }
}
