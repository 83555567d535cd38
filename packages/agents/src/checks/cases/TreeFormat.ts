import type { TestCase } from '@devs/core';
import { type CaseFormat, CaseList, nestedName } from './CaseFormat.ts';

const CASE = /^(\s{2,})(✔|✓|✘ \[fail\]:|✖|\d+\)|- \[skip\]|- \[todo\]|-) (.*?)(?: \(\d[\d.]*m?s\))?$/;
/** AVA and Mocha sum up before they tell what went wrong. */
const OVER = /^\s{2}(?:─|\d+ passing|\d+ tests? (?:passed|failed)|\d+ pending)/;
const UNCAUGHT = /^\s{2}(?:Uncaught exception in|✘ No tests found in|✘ ) ?(\S+\.[cm]?[jt]sx?)\b/;

/** Cases as a tree: Mocha's `spec`, and AVA's own. */
export class TreeFormat implements CaseFormat {
  readonly #list = new CaseList();
  readonly #suites: { readonly indent: number; readonly name: string }[] = [];
  #isOver = false;
  /** What AVA says of each case that failed, its title and the message of the error; and the title, once it is known. */
  readonly #said = new Map<string, string | null>();

  line(text: string): void {
    if (this.#isOver) this.#hearTitle(text.trim());
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
    if (!this.#isOver) return null;
    for (const [said, title] of this.#said) this.#list.add(title ?? said, 'failed');
    this.#said.clear();
    return this.#list.toCases();
  }

  /** In the details the title stands alone; of several that begin what was said the longest is meant. */
  #hearTitle(title: string): void {
    for (const [said, known] of this.#said) {
      const isOne = said === title || (title !== '' && said.startsWith(`${title} `));
      if (isOne && title.length > (known ?? '').length) this.#said.set(said, title);
    }
  }

  #case(mark: string, name: string): void {
    const state = mark.startsWith('-') ? 'skipped' : /[✔✓]/.test(mark) ? 'passed' : 'failed';
    if (mark === '✘ [fail]:') this.#said.set(name, null);
    else this.#list.add(nestedName(...this.#suites.map((suite) => suite.name), name), state);
  }
}
