import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Activity } from '@devs/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import type { CommandRecipe } from '../../src/command/CommandRecipe.ts';
import { customSandbox } from '../../src/sandbox/Sandbox.ts';
import { Bench, callWith } from '../coding/Bench.ts';
import { readCli } from './readCli.ts';

/** What a coding CLI prints that does not stop. */
const FLOOD_MIB = howMany('DEVS_FLOOD_MIB', 128);

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.clear());

const implement = async (mode: string, more?: Partial<CommandRecipe>, limits?: Limits) =>
  (await bench.command(bench.recipe(mode, more), limits)).implement(bench.request(), callWith().call);

type Limits = Parameters<Bench['command']>[1];

describe('a coding CLI', () => {
  test('tells what it prints while it runs, and what it cost', async () => {
    const { call, told } = callWith();
    const go = join(bench.dir, 'go');
    const onActivity = (activity: Activity): void => {
      told.push(activity);
      if (activity.kind === 'output') writeFileSync(go, '');
    };
    const script = `process.stdout.write('begun \\u00e4'); const at = setInterval(() => {
      if (!require('node:fs').existsSync('go')) return;
      clearInterval(at); process.stderr.write('warned'); }, 5);`;
    const read = (text: string) => ({ text, usage: { costUsd: 0.5 }, problem: null });
    const recipe = { name: 'cli', argv: [process.execPath, '-e', script], read };
    const result = await (await bench.command(recipe)).implement(bench.request(), { ...call, onActivity });
    expect(result.summary).toBe('begun ä');
    expect(told.filter(({ kind }) => kind !== 'prompt')).toEqual([
      { kind: 'output', text: 'begun ä' },
      { kind: 'output', text: 'warned' },
      { kind: 'usage', usage: { costUsd: 0.5 } },
    ]);
  });

  test('has its prompt on stdin or in a file', async () => {
    const { summary } = await implement('prompt');
    expect(await implement('file', { argv: ['{promptFile}'] })).toEqual({ summary, files: [] });
  });

  test('is told again what was said when its answer is sent back; what each call says it cost is taken', async () => {
    const { call, reports } = callWith();
    const agents = await bench.command(bench.recipe('dearly', { read: readCli }));
    expect(await agents.review(bench.request(), call)).toEqual({ approved: false, comments: 'No.' });
    expect(reports).toEqual(Array(2).fill({ tokensIn: 100, tokensOut: 7, tokensCached: 80, costUsd: 0.25 }));
  });

  test('that says that it failed is an error with its masked words', async () => {
    const read = readCli;
    await expect(implement('reports', { read })).rejects.toThrow(/failed: The key .*REDACTED.* is invalid/);
    await expect(implement('refused', { read })).rejects.toThrow(/exit code 1: Invalid API key$/);
  });

  test('in a sandbox is called with the arguments it has for one', async () => {
    const recipe = { read: readCli, argvInSandbox: bench.recipe('edits').argv };
    const sandbox = customSandbox(['env']);
    expect((await implement('dies', recipe, { sandbox })).summary).toMatch('It is done.');
    await expect(implement('dies', recipe)).rejects.toThrow('no login');
  });

  test.for([
    [true, {}],
    [false, { network: false }],
  ] as const)('has a network in a sandbox unless its recipe needs none: %j', async ([network, more]) => {
    const argv = [process.execPath, '-e', 'console.log(process.env.NETWORK)'];
    const sandbox = customSandbox(['env', 'NETWORK={network}']);
    const agents = await bench.command({ name: 'mine', argv, ...more }, { sandbox });
    const { summary } = await agents.implement(bench.request(), callWith().call);
    expect(summary.trim()).toBe(network ? 'on' : 'off');
  });

  test('may print more than memory holds: the end is read, and marked as such', async ({ annotate }) => {
    const before = process.memoryUsage().rss;
    const agents = await bench.command(bench.recipe('flood', { argv: [`${FLOOD_MIB}`] }));
    const call = { ...callWith().call, onActivity: () => undefined };
    const { summary } = await agents.implement(bench.request(), call);
    const more = process.memoryUsage().rss - before;
    expect(more).toBeLessThan(100 * 1024 * 1024);
    expect(summary).toMatch(/^… truncated\nx+/);
    expect(summary).toContain('The end.');
    await annotate(`${Math.round(more / 1024 / 1024)} MiB more`);
  });
});
