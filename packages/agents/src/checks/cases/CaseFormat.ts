import type { TestCase } from '@devs/core';

/** Reads the cases of one kind of output, line by line; the lines have no colours. */
export interface CaseFormat {
  line(text: string): void;
  /** `null` where the output is of another kind. */
  cases(): readonly TestCase[] | null;
}

/** Names kept of one run; of more, none are told. */
const MAX_CASES = 5_000;
const MAX_NAME = 400;

/** Cases by name. Of several with one name a failed one counts, then a passed one. */
export class CaseList {
  readonly #cases = new Map<string, Omit<TestCase, 'name'>>();
  #isFull = false;

  /** @param isWhole - Whether it is a file as a whole. */
  add(name: string, state: TestCase['state'], isWhole = false): void {
    if (this.#isFull || name === '') return;
    const key = name.slice(0, MAX_NAME);
    const known = this.#cases.get(key)?.state;
    if (known === 'failed' || (known === 'passed' && state === 'skipped')) return;
    this.#cases.set(key, { state, ...(isWhole && { whole: true }) });
    if (this.#cases.size > MAX_CASES) {
      this.#isFull = true;
      this.#cases.clear();
    }
  }

  remove(name: string): void {
    this.#cases.delete(name);
  }

  /** `null` where none were told, or too many. */
  toCases(): readonly TestCase[] | null {
    if (this.#cases.size === 0) return null;
    return [...this.#cases].map(([name, found]) => ({ name, ...found }));
  }
}

/** Whether a case that no file and no suite is told of is named like a source file: runners do so for one that did not load. */
export const isSource = (name: string): boolean => /^(?:\/.*|\S+)\.[cm]?[jt]sx?$/.test(name);

/** A case under the suites it stands in. */
export const nestedName = (...path: readonly string[]): string =>
  path.filter((part) => part !== '').join(' › ');
