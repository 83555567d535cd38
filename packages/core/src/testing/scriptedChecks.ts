import type { CheckResult, Checks } from '../orchestration/ports.ts';

/** Checks that answer in turn: red and green as a TDD turn expects them, or the given verdicts, repeated. */
export function scriptedChecks(verdicts: readonly boolean[] = [false, true]): Checks {
  let runs = 0;
  return {
    run: async (): Promise<CheckResult> => {
      const passed = verdicts[runs % verdicts.length] ?? true;
      runs += 1;
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
