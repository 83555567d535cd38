import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate, PipelineRunInfo } from '@devs/core';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { AGENTS, RUN_SUM, test } from './support/fixtures.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

describe('a budget on the command line', () => {
  test('stops the run before the call that would pass it, is shown, raised, and the run goes on', async ({
    dir,
  }) => {
    const run = await callMain(dir, [...RUN_SUM, '--yes', '--budget-calls', '3', '--budget-time', '2h']);
    expect(run.exitCode, run.stderr).toBe(75);
    expect(run.stdout).toMatch(/^raise: +devs answer .* --raise-calls 3$/m);

    const shown = await callMain(dir, ['show', 'sum']);
    expect(shown.stdout).toContain('The next call would exceed the budget (run: 3 of 3 calls).');
    expect(shown.stdout).toMatch(
      /of +limit +used +reserved +next call\nrun +3 requests +3 requests +0 requests +1 request$/m,
    );
    expect(shown.stdout).toMatch(/^ {2}devs answer [0-9a-f]{8} --hash [0-9a-f]{12} --raise-calls 3$/m);
    expect((await callMain(dir, ['status', 'sum'])).stdout).toMatch(
      /budget +3 requests of 3 requests, 0\.\d min of 120\.0 min/,
    );

    expect(await callMain(dir, ['answer', 'sum', '--raise-usd', '5'])).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(/^INVALID_ANSWER: .*\n {2}→ .*devs answer [0-9a-f]{8} --raise-calls 3$/m),
    });
    expect((await callMain(dir, ['answer', 'sum'])).stderr).toContain('--raise-calls 3');

    const answer = await callMain(dir, ['answer', 'sum', '--raise-calls', '20', '--by', 'ada']);
    expect(answer.exitCode, answer.stderr).toBe(0);
    const done = await callMain(dir, ['resume', 'sum']);
    expect(done.exitCode, done.stderr).toBe(0);
    const { budget } = documentOf<PipelineRunInfo>(await callMain(dir, ['status', 'sum', '--json']));
    expect(budget).toMatchObject([{ measure: 'calls', limit: 23 }, { measure: 'ms' }]);
    const log = await callMain(dir, ['log', 'sum']);
    expect(log.stdout).toContain('limit reached: requests, 3 of 3');
    expect(log.stdout).toContain('budget raised by');
  });

  test('is that of the project where no flag says otherwise, and stays as it was declared', async ({
    dir,
  }) => {
    await callMain(dir, ['init']);
    const file = join(dir, '.devs', 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, budget: { calls: 1 } }));
    expect((await callMain(dir, [...RUN_SUM, '--yes', ...trusting(dir)])).exitCode).toBe(75);
    const [gate] = documentOf<Gate[]>(await callMain(dir, ['gates', '--json']));
    expect(gate).toMatchObject({ kind: 'budget', artifact: { limits: [{ measure: 'calls', limit: 1 }] } });
    const again = await callMain(dir, [...RUN_SUM, '--budget-calls', '9', ...trusting(dir)]);
    expect(again.stderr).toContain('the budget was ignored');
  });

  test('that an agent does not report is refused before anything is recorded or paid', async ({ dir }) => {
    const [paid, program] = [join(dir, 'paid'), join(dir, 'silent.cjs')];
    writeFileSync(program, `require('node:fs').writeFileSync(${JSON.stringify(paid)}, 'x');\n`);
    const silent = `command:${process.execPath} ${program}`;
    const words = [...RUN_SUM.filter((word) => word !== '--agents' && word !== AGENTS), '--agents', silent];
    for (const [flag, what] of [
      ['--budget-tokens', 'tokens'],
      ['--budget-usd', 'US dollars'],
    ] as const) {
      const run = await callMain(dir, [...words, flag, '1000']);
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.stderr).toContain(`CONFIG_INVALID: The limit in ${what} would never be reached`);
      expect(run.stderr).toContain('--budget-calls');
    }
    expect(existsSync(paid)).toBe(false);
    expect((await callMain(dir, ['status'])).stdout).toContain('There are no runs');
  });

  test('that nobody knows an agent to report is refused, until that is declared', async ({ dir }) => {
    const [paid, program] = [join(dir, 'paid'), join(dir, 'unknown.cjs')];
    writeFileSync(program, `require('node:fs').writeFileSync(${JSON.stringify(paid)}, 'x');\n`);
    const agent = `acp:${process.execPath} ${program}`;
    const words = [...RUN_SUM.filter((word) => word !== '--agents' && word !== AGENTS), '--agents', agent];
    const limited = [...words, '--budget-tokens', '1000'];
    const refused = await callMain(dir, limited);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(/tokens would never be reached: .* is not known to report its tokens/);
    expect(refused.stderr).toContain('"agentReports" in .devs/config.json');
    expect(existsSync(paid)).toBe(false);
    expect((await callMain(dir, ['status'])).stdout).toContain('There are no runs');

    const checks = [{ name: 'sum', argv: ['true'] }];
    writeConfig(dir, { sandbox: 'none', checks, agentReports: { [agent]: ['tokens'] } });
    expect((await callMain(dir, ['trust'])).stderr).toContain('is believed to report: tokens');
    expect((await callMain(dir, limited)).stderr).toContain('CONFIG_NOT_TRUSTED');
    const dollars = await callMain(dir, [...words, '--budget-usd', '1', ...trusting(dir)]);
    expect(dollars.stderr).toContain('US dollars would never be reached');
    const begun = await callMain(dir, [...limited, ...trusting(dir)]);
    expect(begun.stderr).not.toContain('never be reached');
    expect((await callMain(dir, ['status'])).stdout).not.toContain('There are no runs');

    writeConfig(dir, { sandbox: 'none', checks, agentReports: { 'command:x': ['tokens'] } });
    const wrong = await callMain(dir, [...words, ...trusting(dir)]);
    expect(wrong).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('"command:x", which is no CLI'),
    });
  });

  test.for([
    ['--budget-usd', '0', 'is not a valid amount'],
    ['--budget-usd', 'five', 'is not a valid amount'],
    ['--budget-calls', '1.5', 'budget.calls must be'],
    ['--budget-time', '30', 'is not a valid duration'],
    ['--budget-time', '0s', 'is not a valid duration'],
  ])('%s %s is refused', async ([flag, value, message], { dir }) => {
    const run = await callMain(dir, [...RUN_SUM, flag as string, value as string]);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });
});
