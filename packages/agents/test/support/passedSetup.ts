import type { CheckResult } from '@devs/core';

/** A setup that has done its work. */
export const PASSED: CheckResult = {
  passed: true,
  command: 'setup',
  exitCode: 0,
  timedOut: false,
  durationMs: 1,
  output: '',
};
