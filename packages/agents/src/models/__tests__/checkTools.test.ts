import { type AgentCall, type CheckResult, DevsError, type FileEdit } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { checkTools } from '../checkTools.ts';
import { FileDesk } from '../FileDesk.ts';
import { ToolRefusal } from '../ToolRefusal.ts';

const PASSED: CheckResult = { command: 'npm test', passed: true, exitCode: 0, timedOut: false, output: 'ok' };

interface Offered {
  readonly limit?: number;
  readonly run?: (edits: readonly FileEdit[]) => Promise<CheckResult>;
}

function callWith(offered: Offered | null): AgentCall {
  const { limit = 2, run = async () => PASSED } = offered ?? {};
  return {
    idempotencyKey: 'key',
    signal: new AbortController().signal,
    usage: () => {},
    ...(offered !== null && { checks: { limit, run } }),
  };
}

const emptyDesk = (): FileDesk => new FileDesk({ dir: '/w', list: async () => [], read: async () => '' });

/** What a model is told by one use of the tool. */
async function toldOf(result: Partial<CheckResult>): Promise<string> {
  const call = callWith({ limit: 1, run: async () => ({ ...PASSED, ...result }) });
  const [tool] = checkTools(emptyDesk(), call);
  return (await tool?.run({}, call))?.told ?? '';
}

describe('the tool that runs the checks', () => {
  test('is not there where a call offers none', () => {
    expect(checkTools(emptyDesk(), callWith(null))).toEqual([]);
  });

  test('runs them on what was edited, and counts how often', async () => {
    const seen: (readonly FileEdit[])[] = [];
    const call = callWith({
      run: async (edits) => {
        seen.push(edits);
        return PASSED;
      },
    });
    const desk = emptyDesk();
    const [tool] = checkTools(desk, call);
    expect(tool?.description).toContain('At most 2 times');
    await desk.write('a.js', '1');
    expect(await tool?.run({}, call)).toEqual({
      told: 'npm test passed.\nok\n\n[1 run is left in this stage.]',
    });
    expect((await tool?.run({}, call))?.told).toContain('[0 runs are left in this stage.]');
    await expect(tool?.run({}, call)).rejects.toThrow('cannot be run again');
    expect(seen).toEqual([[{ path: 'a.js', content: '1' }], [{ path: 'a.js', content: '1' }]]);
  });

  test('is refused in a call that goes on without them', async () => {
    const [tool] = checkTools(emptyDesk(), callWith({ limit: 1 }));
    expect(tool?.description).toContain('At most 1 time in');
    await expect(tool?.run({}, callWith(null))).rejects.toThrow(ToolRefusal);
  });

  test.each([
    [{ passed: false, exitCode: 3 }, 'npm test failed (exit code 3).\nok'],
    [{ passed: false, exitCode: null }, 'npm test failed (exit code none).\nok'],
    [{ passed: false, exitCode: null, timedOut: true }, 'npm test ran into its time limit.\nok'],
    [{ passed: false, missing: 'npm' }, 'npm test could not run: npm is not installed.'],
    [{ flaky: ['a', 'b'] }, 'npm test passed.\nFailed and passed on the same files: a, b.\nok'],
    [{ output: `${'x'.repeat(16_000)}end` }, `npm test passed.\n${'x'.repeat(15_997)}end`],
  ])('says what became of %j', async (result, words) => {
    expect(await toldOf(result)).toBe(`${words}\n\n[0 runs are left in this stage.]`);
  });

  test('leaves to the model what it can mend, and nothing else', async () => {
    const failing = async (error: Error): Promise<unknown> => {
      const call = callWith({ run: () => Promise.reject(error) });
      return checkTools(emptyDesk(), call)[0]?.run({}, call);
    };
    const refused = new DevsError('../x leads out.', { code: 'PATH_REFUSED', remedy: 'Stay.' });
    await expect(failing(refused)).rejects.toThrow(new ToolRefusal('../x leads out.'));
    const broken = new RangeError('the call has ended');
    await expect(failing(broken)).rejects.toBe(broken);
  });
});
