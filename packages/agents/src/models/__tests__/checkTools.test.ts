import { type AgentCall, type CheckResult, DevsError, type FileEdit } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { FileDesk, ToolRefusal } from '../FileDesk.ts';
import { checkTools } from '../modelTools.ts';

const PASSED: CheckResult = {
  command: 'npm test',
  passed: true,
  exitCode: 0,
  timedOut: false,
  output: 'ok 1',
};

function stage(limit: number, results: readonly (CheckResult | Error)[] = [PASSED]) {
  const checked: (readonly FileEdit[])[] = [];
  const left = [...results];
  const call: AgentCall = {
    idempotencyKey: 'k',
    signal: new AbortController().signal,
    usage: () => undefined,
    checks: {
      limit,
      run: async (edits) => {
        checked.push(edits);
        const result = left.shift() ?? PASSED;
        if (result instanceof Error) throw result;
        return result;
      },
    },
  };
  const desk = new FileDesk({ dir: '/w', list: async () => ['a.js'], read: async () => 'one' });
  const tools = checkTools(desk, call);
  const run = async (now: AgentCall = call): Promise<string> => {
    const [tool] = tools;
    if (tool === undefined) throw new Error('no tool is offered');
    return (await tool.run({}, now)).told;
  };
  return { desk, call, tools, run, checked };
}

const told = async (result: Partial<CheckResult>): Promise<string> =>
  (await stage(1, [{ ...PASSED, ...result }]).run()).replace(/\n\n\[[^\n]*\]$/, '');

describe('run_checks', () => {
  test('is offered only where the stage may run checks, and says how often', () => {
    const { desk, call, tools } = stage(2);
    const { checks: _, ...without } = call;
    expect(checkTools(desk, without)).toEqual([]);
    expect(tools[0]?.description).toContain('At most 2 times');
    expect(stage(1).tools[0]?.description).toContain('At most 1 time in');
  });

  test('checks what lies on the desk, counts down, and then refuses', async () => {
    const { desk, run, checked } = stage(2);
    await desk.write('a.js', 'two');
    expect(await run()).toBe('npm test passed.\nok 1\n\n[1 run is left in this stage.]');
    expect(await run()).toContain('[0 runs are left in this stage.]');
    await expect(run()).rejects.toThrow(ToolRefusal);
    expect(checked).toEqual(Array(2).fill([{ path: 'a.js', content: 'two' }]));
  });

  test('a conversation that goes on in a call without checks has none', async () => {
    const { call, run, checked } = stage(2);
    const { checks: _, ...without } = call;
    await expect(run(without)).rejects.toThrow('cannot be run again');
    expect(checked).toEqual([]);
  });

  test.each<[string, Partial<CheckResult>, string]>([
    ['a failure', { passed: false, exitCode: 1 }, 'npm test failed (exit code 1).\nok 1'],
    ['a death', { passed: false, exitCode: null }, 'npm test failed (exit code none).\nok 1'],
    ['a limit', { passed: false, exitCode: null, timedOut: true }, 'npm test ran into its time limit.\nok 1'],
    ['a missing tool', { passed: false, missing: 'ava' }, 'npm test could not run: ava is not installed.'],
    [
      'unsteady checks',
      { flaky: ['a', 'b'] },
      'npm test passed.\nFailed and passed on the same files: a, b.\nok 1',
    ],
  ])('tells %s', async (_name, result, words) => {
    expect(await told(result)).toBe(words);
  });

  test('of a long output the end is told', async () => {
    const words = await told({ output: `begin${'x'.repeat(20_000)}end` });
    expect(words).toHaveLength('npm test passed.\n'.length + 16_000);
    expect(words).toMatch(/end$/);
  });

  test('edits that cannot be applied are the model’s to mend; any other failure is not', async () => {
    const refused = new DevsError('the path .git/x is refused', {
      code: 'PATH_REFUSED',
      remedy: 'Another path.',
    });
    await expect(stage(1, [refused]).run()).rejects.toThrow(ToolRefusal);
    const broken = new Error('the disk is full');
    await expect(stage(1, [broken]).run()).rejects.toBe(broken);
  });
});
