import type { CheckRequest, CheckResult, TestCase } from '@devs/core';
import { describe, expect, it } from 'vitest';
import { missingProgram } from '../CommandChecks.ts';
import { checkKind } from '../checkKind.ts';
import { SteadyChecks } from '../SteadyChecks.ts';

const signal = new AbortController().signal;
const request: CheckRequest = { dir: '/', signal };

function result(passed: boolean, ...failing: readonly string[]): CheckResult {
  const state = (name: string): TestCase['state'] => (failing.includes(name) ? 'failed' : 'passed');
  const cases = ['a', 'b'].map((name) => ({ name, state: state(name) }));
  return { passed, exitCode: passed ? 0 : 1, timedOut: false, output: 'said', command: 'npm test', cases };
}

/** Checks that answer in turn, and count. */
function inTurn(...results: readonly CheckResult[]) {
  const told = { runs: 0 };
  const run = async (): Promise<CheckResult> => results[told.runs++] ?? expect.fail('one run too many');
  return { told, run };
}

const PASS = result(true);

describe('SteadyChecks', () => {
  it.each([
    ['passes', [PASS], 1, []],
    ['fails alike twice', [result(false, 'a'), result(false, 'a')], 2, []],
    ['fails, then passes', [result(false, 'a'), PASS], 2, ['a']],
    ['fails in other ways, then passes', [result(false, 'a'), result(false, 'b'), PASS], 3, ['a', 'b']],
    ['fails beside a flaky one', [result(false, 'a', 'b'), result(false, 'b'), result(false, 'b')], 3, ['a']],
    ['takes too long', [{ ...result(false), timedOut: true }], 1, []],
    ['has nothing to run', [{ ...result(false), missing: 'xo' }], 1, []],
  ] as const)('runs as often as it must: %s', async (_, results, runs, flaky) => {
    const checks = inTurn(...results);
    const got = await new SteadyChecks(checks, 2).run(request);
    expect(checks.told.runs).toBe(runs);
    expect(got.flaky ?? []).toEqual(flaky);
    expect(got.passed).toBe(results.at(-1)?.passed);
  });

  it('names a command that tells no cases', async () => {
    const { cases: _, ...red } = result(false);
    const { flaky, output } = await new SteadyChecks(inTurn(red, PASS), 2).run(request);
    expect(flaky).toEqual(['npm test']);
    expect(output).toBe('said\n2 runs; flaky: npm test');
  });

  it('runs an expected red again only once something was flaky', async () => {
    const red = { ...request, expect: 'fail' } as const;
    const checks = inTurn(result(false, 'a'), result(false, 'a'), PASS, result(false, 'a'), PASS);
    const steady = new SteadyChecks(checks, 2);
    await steady.run(red);
    expect(checks.told.runs).toBe(1);
    await steady.run(request);
    expect(checks.told.runs).toBe(3);
    await steady.run(red);
    expect(checks.told.runs).toBe(5);
  });

  it('runs an expected red again that fell over before it told a case, where others told some', async () => {
    const red = { ...request, expect: 'fail' } as const;
    const { cases: _, ...fallen } = result(false);
    const checks = inTurn(fallen, PASS, fallen, result(false, 'a'), fallen, fallen);
    const steady = new SteadyChecks(checks, 2);
    await steady.run(red);
    expect(checks.told.runs).toBe(1);
    await steady.run(request);
    expect((await steady.run(red)).cases).toContainEqual({ name: 'a', state: 'failed' });
    expect(checks.told.runs).toBe(4);
    expect(await steady.run(red)).toEqual(fallen);
    expect(checks.told.runs).toBe(6);
  });

  it('never runs again with no retries, and refuses what is no count', async () => {
    const checks = inTurn(result(false, 'a'));
    await new SteadyChecks(checks, 0).run(request);
    expect(checks.told.runs).toBe(1);
    for (const wrong of [-1, 0.5, Number.NaN])
      expect(() => new SteadyChecks(checks, wrong)).toThrow(RangeError);
  });
});

describe('checkKind', () => {
  it.each([
    ['xo', 'lint'],
    ['npx eslint .', 'lint'],
    ['npm run lint', 'lint'],
    ['npm exec --no -- xo', 'lint'],
    ['pnpm exec biome check', 'lint'],
    ['node_modules/.bin/tsc --noEmit', 'types'],
    ['yarn run tsd', 'types'],
    ['npm run typecheck', 'types'],
    ['npm test', 'test'],
    ['pnpm run test', 'test'],
    ['ava', 'test'],
    ['node --test', 'test'],
  ] as const)('%s: %s', (command, kind) => {
    expect(checkKind(command.split(' '))).toBe(kind);
  });
});

describe('missingProgram', () => {
  it.each([
    [127, 'sh: 1: xo: not found\n', 'xo'],
    [127, '> a@1.0.0 test\n> xo && ava\n\nsh: xo: command not found\n', 'xo'],
    [127, 'bash: line 1: ava: command not found', 'ava'],
    [127, '/usr/bin/env: ‘python3’: No such file or directory', 'python3'],
    [1, 'bwrap: execvp tsd: No such file or directory\n', 'tsd'],
    [1, 'sh: 1: xo: not found', null],
    [127, 'something else', null],
    [0, 'bwrap: execvp tsd: No such file or directory', null],
  ])('%s, %j', (exitCode, output, program) => {
    expect(missingProgram(exitCode, output)).toBe(program);
  });
});
