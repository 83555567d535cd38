import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckRequest } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckSuite } from '../CheckSuite.ts';
import { CommandChecks } from '../CommandChecks.ts';

type OnActivity = NonNullable<CheckRequest['onActivity']>;

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devs-suite-'));
  await mkdir(join(dir, 'a'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

const script = (source: string) => new CommandChecks({ argv: [process.execPath, '-e', source] });
const run = (suite: CheckSuite) => suite.run({ dir, signal: new AbortController().signal });
const where = "console.log(require('path').basename(process.cwd()))";

describe('CheckSuite', () => {
  it('runs each check in its folder and tells all of them', async () => {
    const suite = new CheckSuite([
      { name: 'one', dir: 'a', checks: script(where) },
      { name: 'two', dir: '.', checks: script(where) },
    ]);
    const result = await run(suite);
    expect(result).toMatchObject({ passed: true, exitCode: 0 });
    expect(result.output).toMatch(/\[one\][^\n]+\na\n+\[two\]/);
  });

  it('runs all of them, and says which part is red', async () => {
    const suite = new CheckSuite([
      { name: 'one', dir: '.', kind: 'lint', checks: script('process.exit(3)') },
      { name: 'two', dir: '.', checks: script("console.log('TAP version 13\\nok 1 - a\\n1..1')") },
    ]);
    expect(await run(suite)).toMatchObject({
      passed: false,
      exitCode: 3,
      parts: [
        { name: 'one', kind: 'lint', passed: false },
        { name: 'two', kind: 'test', passed: true },
      ],
      cases: [{ name: 'two: a', state: 'passed' }],
    });
  });

  it('says how long each took, where a check tells', async () => {
    const own = {
      run: async () => ({ passed: true, exitCode: 0, timedOut: false, output: '', command: 'own' }),
    };
    const { parts } = await run(
      new CheckSuite([
        { name: 'slow', dir: '.', checks: script('setTimeout(() => {}, 300)') },
        { name: 'own', dir: '.', checks: own },
      ]),
    );
    expect(parts?.[0]?.durationMs).toBeGreaterThanOrEqual(300);
    expect(parts?.[1]).toEqual({ name: 'own', kind: 'test', passed: true, command: 'own' });
  });

  it('runs what only reads beside the others, in the order of the checks, one output after the other', async () => {
    const running = new Set<string>();
    const together: string[][] = [];
    let release = (): void => undefined;
    const linted = new Promise<void>((resolve) => {
      release = resolve;
    });
    const named = (name: string, work: () => Promise<void>) => ({
      run: async ({ onActivity }: Parameters<CheckSuite['run']>[0]) => {
        running.add(name);
        together.push([...running]);
        onActivity?.({ kind: 'doing', what: name });
        await work();
        onActivity?.({ kind: 'output', text: `${name} is over` });
        running.delete(name);
        return { passed: true, exitCode: 0, timedOut: false, output: name, command: name };
      },
    });
    const suite = new CheckSuite([
      { name: 'test', dir: '.', checks: named('test', async () => release()) },
      { name: 'lint', dir: '.', kind: 'lint', parallel: true, checks: named('lint', () => linted) },
      { name: 'build', dir: '.', checks: named('build', async () => undefined) },
    ]);
    const told: string[] = [];
    const onActivity: OnActivity = (activity) =>
      told.push('what' in activity ? activity.what : 'text' in activity ? activity.text : '');
    const { parts } = await suite.run({ dir, signal: new AbortController().signal, onActivity });
    expect(parts?.map(({ name }) => name)).toEqual(['test', 'lint', 'build']);
    expect(together[1]).toEqual(['lint', 'test']);
    expect(together.every((names) => !(names.includes('test') && names.includes('build')))).toBe(true);
    expect(told.indexOf('lint is over')).toBe(told.indexOf('lint') + 1);
  });

  it('lets no check run on when another one cannot be made', async () => {
    let isOver = false;
    const suite = new CheckSuite([
      { name: 'test', dir: '.', checks: { run: () => Promise.reject(new Error('no folder')) } },
      {
        name: 'lint',
        dir: '.',
        parallel: true,
        checks: {
          run: async () => {
            await Promise.resolve();
            isOver = true;
            return { passed: true, exitCode: 0, timedOut: false, output: '', command: 'lint' };
          },
        },
      },
    ]);
    await expect(run(suite)).rejects.toThrow('no folder');
    expect(isOver).toBe(true);
  });

  it('refuses to judge with nothing', () => {
    expect(() => new CheckSuite([])).toThrow(TypeError);
  });
});
