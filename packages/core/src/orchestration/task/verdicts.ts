import { summariseCheck } from '../checks/CheckSummary.ts';
import type { FileVersions } from '../checks/FileVersions.ts';
import { isGreen } from '../checks/isGreen.ts';
import { isRed } from '../checks/isRed.ts';
import { fails, holds, type Judgement } from '../checks/Judgement.ts';
import { listed } from '../checks/listed.ts';
import { testLosses } from '../checks/testLosses.ts';
import type { CheckResult, TestCase, TestLoss } from '../ports.ts';
import type { GraphState } from '../types.ts';

// How the loop judges what the checks said, against what they said before anything was done.

type Project = Pick<GraphState, 'projectConfig'>;

export const judgeRed = ({ projectConfig: { baseline } }: Project, red: CheckResult): Judgement =>
  isRed(baseline ?? null, red);

export const judgeGreen = ({ projectConfig: { baseline } }: Project, now: CheckResult): Judgement =>
  isGreen(baseline ?? null, now);

/**
 * Whether what was red is green: of cases that are told by name, each that failed before the work has to pass after it.
 * One that was skipped shows nothing. One that is not there any more may have been a file that did not load; then there
 * is another case for it that passes now.
 */
export function judgeTurned(
  { projectConfig: { baseline } }: Project,
  red: CheckResult,
  green: CheckResult,
): Judgement {
  if (red.cases === undefined || green.cases === undefined) return holds;
  const excused = new Set([...(red.flaky ?? []), ...(baseline?.accepted ?? [])]);
  const failed = namesOf(red.cases, 'failed').filter((name) => !excused.has(name));
  const [passed, before] = [new Set(namesOf(green.cases, 'passed')), new Set(namesOf(red.cases, 'passed'))];
  const named = new Set(green.cases.map(({ name }) => name));
  const notShown = failed.filter((name) => named.has(name) && !passed.has(name));
  const gone = failed.filter((name) => !named.has(name));
  const come = [...passed].filter((name) => !before.has(name) && !failed.includes(name));
  const open = gone.length > come.length ? [...notShown, ...gone] : notShown;
  return open.length === 0 ? holds : fails(`What was red is not green: ${listed(open)}.`);
}

const namesOf = (cases: readonly TestCase[], wanted: TestCase['state']): readonly string[] =>
  cases.filter(({ state }) => state === wanted).map(({ name }) => name);

/** What the tests may have lost. */
export interface LossQuestion {
  /** All that differ. */
  readonly files: readonly FileVersions[];
  /** The checks on the tree before; `null` where they are not known. */
  readonly before: CheckResult | null;
  readonly now: CheckResult;
}

/** What the work takes from the tests, or from what judges them. */
export function findLosses(
  { projectConfig: { baseline } }: Project,
  { files, before, now }: LossQuestion,
): readonly TestLoss[] {
  return testLosses({ files, before: before === null ? (baseline ?? null) : summariseCheck(before), now });
}
