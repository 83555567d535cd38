import { APP_CASES } from './appCases.ts';
import { DECISION_CASES } from './decisionCases.ts';
import { FILE_CASES } from './fileCases.ts';
import type { RunsCase } from './RunsUnderTest.ts';

/**
 * What every `Runs` keeps to: each case is a name and a check with plain assertions, on runs of its own.
 *
 * @example
 * ```ts
 * test.each([...runsCases, ...runFilesCases])('$name', async ({ check }) => await check(await myRuns()));
 * ```
 */
export const runsCases: readonly RunsCase[] = [...APP_CASES, ...DECISION_CASES];

/** What those keep to besides that hand out a copy of each run's file. */
export const runFilesCases: readonly RunsCase[] = FILE_CASES;
