import type { TestCase } from '@devs/core';
import { type CaseFormat, CaseList, nestedName } from './CaseFormat.ts';

const VERBOSE = /^ ([✓×↓□]) (.+? > .+?)(?: \((?:retry|repeat) x\d+\))*(?: \d+m?s)?(?: \d+ MB heap used)?$/;
const PASSED_FILE = /^ ✓ +(.+?) \(\d+ tests?(?: \|[^)]*)?\)(?: .*)?$/;
const FAILED = /^ FAIL {1,2}(.+?)$/;

/** Vitest: each case with `verbose`; else each file that passed, and each case that failed. */
export class VitestFormat implements CaseFormat {
  readonly #list = new CaseList();
  #isVitest = false;

  line(text: string): void {
    if (/^ RUN {2}v\d/.test(text)) this.#isVitest = true;
    if (!this.#isVitest) return;
    const file = PASSED_FILE.exec(text);
    const verbose = file === null ? VERBOSE.exec(text) : null;
    const failed = FAILED.exec(text);
    if (file !== null) this.#list.add(trimText(file[1]), 'passed', true);
    if (verbose !== null) this.#list.add(casePath(verbose[2]), STATES[verbose[1] ?? ''] ?? 'passed');
    if (failed !== null) this.#failed(failed[1] ?? '');
  }

  cases(): readonly TestCase[] | null {
    return this.#list.toCases();
  }

  /** A file that failed as a whole says its name twice. */
  #failed(text: string): void {
    const name = text.replace(/ \[ .* \]$/, '');
    this.#list.add(casePath(name), 'failed', name !== text);
  }
}

const STATES: Readonly<Record<string, TestCase['state']>> = {
  '✓': 'passed',
  '×': 'failed',
  '↓': 'skipped',
  '□': 'skipped',
};

const trimText = (text = ''): string => text.trim();

const casePath = (text = ''): string => nestedName(...trimText(text).split(' > '));
