import type { CheckResult, TestLoss } from '../ports.ts';
import type { GraphState } from '../types.ts';

// How the loop judges what the checks said.

/** Whether something holds and, where it does not, why, for people and agents. */
export type Verdict = { readonly holds: true } | { readonly holds: false; readonly why: string };

type Baseline = Pick<GraphState, 'projectConfig'>;

/** Whether a check shows a test that fails for want of the code it asks for. */
export function judgeRed(_baseline: Baseline, red: CheckResult): Verdict {
  if (!red.passed) return { holds: true };
  return { holds: false, why: 'The new test passes before anything is implemented.' };
}

/** Whether a check lets work pass. */
export function judgeGreen(_baseline: Baseline, now: CheckResult): Verdict {
  return now.passed ? { holds: true } : { holds: false, why: '' };
}

/**
 * Whether what was red is green: of cases that are told by name, each that failed before the work has to pass after it.
 * One that did not run, or was skipped, shows nothing.
 */
export function judgeTurned(red: CheckResult, green: CheckResult): Verdict {
  if (red.cases === undefined || green.cases === undefined) return { holds: true };
  const passed = new Set(green.cases.filter(({ state }) => state === 'passed').map(({ name }) => name));
  const failed = red.cases.filter(({ state }) => state === 'failed').map(({ name }) => name);
  const notShown = failed.filter((name) => !passed.has(name) && !(red.flaky ?? []).includes(name));
  if (notShown.length === 0) return { holds: true };
  return { holds: false, why: `What was red is not green: ${notShown.slice(0, NAMED).join('; ')}.` };
}

const NAMED = 10;

/** A file before and after the work; `null` where there is none, or it is no text. */
export interface FileVersions {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** What the tests may have lost. */
export interface LossQuestion {
  /** All that differ. */
  readonly files: readonly FileVersions[];
  /** The checks on the tree before; `null` where they are not known. */
  readonly before: CheckResult | null;
  readonly now: CheckResult;
}

/** What the work takes from the tests, or from what judges them. */
export function findLosses(_baseline: Baseline, _question: LossQuestion): readonly TestLoss[] {
  return [];
}
