import type { CheckPart, CheckResult, TestCase } from '../../ports.ts';
import { type Baseline, summariseCheck } from '../CheckSummary.ts';

/** A check of which only what is told matters. */
export function aCheck(told: Partial<CheckResult> = {}): CheckResult {
  const passed = told.passed ?? true;
  return { passed, exitCode: passed ? 0 : 1, timedOut: false, output: '', command: 'npm test', ...told };
}

export const red = (told: Partial<CheckResult> = {}): CheckResult => aCheck({ passed: false, ...told });

/** `+name` passed, `-name` failed, `~name` was skipped; `-[name]` is a file as a whole. */
export function cases(...names: readonly string[]): readonly TestCase[] {
  const states = { '+': 'passed', '-': 'failed', '~': 'skipped' } as const;
  return names.map((text) => {
    const [, file] = /^\[(.*)\]$/.exec(text.slice(1)) ?? [];
    const state = states[text[0] as '+'];
    return file === undefined ? { name: text.slice(1), state } : { name: file, state, whole: true };
  });
}

/** `+name:kind`, `-name:kind`. */
export function parts(...names: readonly string[]): readonly CheckPart[] {
  return names.map((text) => {
    const [name = '', kind = 'test'] = text.slice(1).split(':');
    return { name, kind: kind as CheckPart['kind'], passed: text.startsWith('+') };
  });
}

export const aBaseline = (check: CheckResult, accepted: readonly string[] = []): Baseline => ({
  ...summariseCheck(check),
  tree: 'a'.repeat(40),
  accepted,
});
