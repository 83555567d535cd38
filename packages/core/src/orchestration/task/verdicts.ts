import { summariseCheck } from '../checks/CheckSummary.ts';
import type { FileVersions } from '../checks/FileVersions.ts';
import { isGreen } from '../checks/isGreen.ts';
import { isRed } from '../checks/isRed.ts';
import { isTestFile } from '../checks/isTestFile.ts';
import { fails, holds, type Judgement } from '../checks/Judgement.ts';
import { listed } from '../checks/listed.ts';
import { testLosses } from '../checks/testLosses.ts';
import type { CheckResult, TestLoss } from '../ports.ts';
import type { GraphState } from '../types.ts';

// How the loop judges what the checks said, against what they said before anything was done.

type Project = Pick<GraphState, 'projectConfig'>;

export const judgeRed = ({ projectConfig: { baseline } }: Project, red: CheckResult): Judgement =>
  isRed(baseline ?? null, red);

export const judgeGreen = ({ projectConfig: { baseline } }: Project, now: CheckResult): Judgement =>
  isGreen(baseline ?? null, now);

/**
 * Whether what was red is green: of cases that are told by name, each that failed before the work has to pass after it.
 * One that did not run, or was skipped, shows nothing. A file that did not load had no names for its cases: it is shown by
 * a case that passes and was not there.
 */
export function judgeTurned(
  { projectConfig: { baseline } }: Project,
  red: CheckResult,
  green: CheckResult,
): Judgement {
  if (red.cases === undefined || green.cases === undefined) return holds;
  const passed = new Set(green.cases.filter(({ state }) => state === 'passed').map(({ name }) => name));
  const failed = red.cases.filter(({ state }) => state === 'failed').map(({ name }) => name);
  const excused = new Set([...(red.flaky ?? []), ...(baseline?.accepted ?? [])]);
  const before = new Set(red.cases.map(({ name }) => name));
  const hasNew = [...passed].some((name) => !before.has(name));
  const isShown = (name: string): boolean =>
    passed.has(name) || excused.has(name) || (hasNew && isFile(name) && !stillFails(name, green));
  const notShown = failed.filter((name) => !isShown(name));
  return notShown.length === 0 ? holds : fails(`What was red is not green: ${listed(notShown)}.`);
}

/** Of one among several parts too, whose name stands before it. */
const isFile = (name: string): boolean => isTestFile(name.replace(/^[^/]*: /, ''));

const stillFails = (name: string, { cases = [] }: CheckResult): boolean =>
  cases.some((each) => each.name === name && each.state !== 'passed');

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
