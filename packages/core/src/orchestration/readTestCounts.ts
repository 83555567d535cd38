import { stripVTControlCharacters } from 'node:util';
import type { TestCounts } from '../engine/entropy/Turn.ts';

/** Characters read, from the end: a runner sums up last. */
const READ = 4_000;

/** Vitest, Jest, Mocha, pytest, cargo: `3 failed | 11 passed`, `11 passing`; node:test and TAP: `# pass 11`. */
const PASSED = /\b(\d{1,6}) (?:passed|passing)\b|# pass (\d{1,6})\b/g;
const FAILED = /\b(\d{1,6}) (?:failed|failing)\b|# fail (\d{1,6})\b/g;

/** What a test runner's output says of its tests; `null` where it does not say it in a known way. */
export function readTestCounts(output: string): TestCounts | null {
  const text = stripVTControlCharacters(output.slice(-READ));
  const passed = lastCount(text, PASSED);
  const failed = lastCount(text, FAILED);
  return passed === null && failed === null ? null : { passed: passed ?? 0, failed: failed ?? 0 };
}

function lastCount(text: string, pattern: RegExp): number | null {
  const match = [...text.matchAll(pattern)].at(-1);
  return match === undefined ? null : Number(match[1] ?? match[2]);
}
