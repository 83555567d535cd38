import type { CheckResult } from '../ports.ts';
import { type Baseline, ranCases } from './CheckSummary.ts';
import { failuresOf } from './failuresOf.ts';
import { fails, holds, type Judgement } from './Judgement.ts';
import { listed } from './listed.ts';

/**
 * Whether a check lets work pass: nothing fails, or nothing but what failed at the baseline and was accepted there.
 * With accepted failures the runner must have told as many cases as then: one that did not start hides what it holds.
 *
 * @param baseline - `null` in a run that has none: then nothing may fail.
 */
export function isGreen(baseline: Baseline | null, now: CheckResult): Judgement {
  if (now.missing !== undefined) return fails(`Nothing was checked: ${now.missing} is not there.`);
  if (now.timedOut) return fails('The checks did not end in their time.');
  const failing = failuresOf(now);
  if (failing.length === 0) return holds;
  const { accepted = [], cases = null } = baseline ?? {};
  const unaccepted = failing.filter((name) => !accepted.includes(name));
  if (unaccepted.length > 0) return fails(`These fail: ${listed(unaccepted)}.`);
  const ran = ranCases(now.cases) ?? 0;
  if (cases !== null && ran < cases) {
    return fails(`What fails was accepted, but only ${ran} of ${cases} cases ran.`);
  }
  return holds;
}
