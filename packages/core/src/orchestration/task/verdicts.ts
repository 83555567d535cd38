import type { CheckResult, FileChange, TestLoss } from '../ports.ts';
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

/** What the tests may have lost: two trees, and what the checks said of them. */
export interface LossQuestion {
  readonly files: readonly FileChange[];
  readonly readBefore: (path: string) => Promise<string | null>;
  readonly readAfter: (path: string) => Promise<string | null>;
  /** `null` where they were not run on it. */
  readonly checkBefore: CheckResult | null;
  readonly checkAfter: CheckResult;
}

/** What the work takes from the tests, or from what judges them. */
export async function findLosses(_question: LossQuestion): Promise<readonly TestLoss[]> {
  return [];
}
