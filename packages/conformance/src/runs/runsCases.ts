import { APP_CASES } from './appCases.ts';
import { DECISION_CASES } from './decisionCases.ts';
import { FILE_CASES } from './fileCases.ts';
import type { RunsCase } from './RunsUnderTest.ts';
import { SCHEDULE_CASES } from './scheduleCases.ts';
import { WEBHOOK_CASES } from './webhookCases.ts';

/**
 * Contract tests of `Runs`: each case has a name and a check with plain assertions, on its own runs.
 *
 * @example
 * ```ts
 * test.each([...runsCases, ...runFilesCases])('$name', async ({ check }) => await check(await myRuns()));
 * ```
 */
export const runsCases: readonly RunsCase[] = [
  ...APP_CASES,
  ...DECISION_CASES,
  ...WEBHOOK_CASES,
  ...SCHEDULE_CASES,
];

/** Additional contract tests for a `Runs` that returns copies of run files. */
export const runFilesCases: readonly RunsCase[] = FILE_CASES;
