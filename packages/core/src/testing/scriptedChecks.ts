import type { CheckRequest, CheckResult, Checks } from '../orchestration/ports.ts';

/**
 * Creates checks without a command: they fail if a failing test is due and pass otherwise; or they return the listed
 * verdicts in turn, repeated.
 */
export function scriptedChecks(verdicts?: readonly boolean[]): Checks {
  let runs = 0;
  const next = ({ expect }: CheckRequest): boolean => {
    if (verdicts === undefined) return expect !== 'fail';
    const verdict = verdicts[runs % verdicts.length] ?? true;
    runs += 1;
    return verdict;
  };
  return {
    run: async (request): Promise<CheckResult> => {
      const passed = next(request);
      return {
        passed,
        exitCode: passed ? 0 : 1,
        timedOut: false,
        output: passed ? 'ok' : 'not ok',
        command: 'scripted',
      };
    },
  };
}
