import type { TestCase } from '@devs/core';
import { type CaseFormat, CaseList, nestedName } from './CaseFormat.ts';

const FILE = /^(PASS|FAIL) (.+?)(?: \([\d.]+ m?s\))?$/;
const CASE = /^(\s+)([✓✕○✎]) (?:skipped |todo )?(.*?)(?: \(\d[\d.]* m?s\))?$/;
const FAILED = /^ {2}● (.+)$/;

/** Jest: each case with `--verbose`; else each file that passed, and each case that failed. */
export class JestFormat implements CaseFormat {
  readonly #list = new CaseList();
  readonly #suites: { readonly indent: number; readonly name: string }[] = [];
  #file = '';
  /** Whether what follows the name of a file are still its cases. */
  #inTree = false;

  line(text: string): void {
    const file = FILE.exec(text);
    if (file !== null) this.#begin(file[2] ?? '', file[1] === 'PASS');
    if (file !== null || this.#file === '') return;
    const failed = FAILED.exec(text);
    if (failed !== null) this.#failed(failed[1] ?? '');
    else if (this.#inTree) this.#tree(text);
  }

  cases(): readonly TestCase[] | null {
    return this.#list.toCases();
  }

  #begin(file: string, passed: boolean): void {
    this.#file = file;
    this.#inTree = true;
    this.#suites.length = 0;
    if (passed) this.#list.add(file, 'passed', true);
  }

  #failed(name: string): void {
    this.#inTree = false;
    if (name === 'Console') return;
    if (name === 'Test suite failed to run') this.#list.add(this.#file, 'failed', true);
    else this.#list.add(nestedName(this.#file, name), 'failed');
  }

  #tree(text: string): void {
    const found = CASE.exec(text);
    const indent = text.length - text.trimStart().length;
    while ((this.#suites.at(-1)?.indent ?? -1) >= indent) this.#suites.pop();
    if (found === null) {
      if (text.trim() !== '') this.#suites.push({ indent, name: text.trim() });
      return;
    }
    const [, , mark, name = ''] = found;
    const state = mark === '✓' ? 'passed' : mark === '✕' ? 'failed' : 'skipped';
    this.#list.remove(this.#file);
    this.#list.add(nestedName(this.#file, ...this.#suites.map((suite) => suite.name), name), state);
  }
}
