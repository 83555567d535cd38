import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { waitingSum } from './support/sumProject.ts';

const VERBS = 'gates answer pause cancel explain adopt sync rewind accept-graph doctor backup prune'.split(
  ' ',
);

describe('devs admin', () => {
  test('helps with every verb by an example, and each works without "admin"', async ({ dir }) => {
    const { stdout } = await callMain(dir, ['admin', '--help']);
    for (const verb of VERBS) {
      expect(stdout).toMatch(new RegExp(`^ {2}${verb} `, 'm'));
      const help = await callMain(dir, ['admin', verb, '--help']);
      expect(help).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Examples:\n  $ devs ') });
      expect((await callMain(dir, [verb, '--help'])).exitCode).toBe(0);
    }
  });

  test('says why a run waits, and what it spent', async ({ dir }) => {
    await waitingSum(dir);
    const { exitCode, stdout } = await callMain(dir, ['admin', 'explain', 'sum']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^sum {2}Sum: waiting for a person$/m);
    expect(stdout).toMatch(/^read: {4}devs show [0-9a-f]{8}$/m);
    expect(stdout).toMatch(/^depth: {3}\d+ of 25 transitions without progress$/m);
    expect(stdout).toContain('design written');
  });

  test('copies the state file, once', async ({ dir }) => {
    await waitingSum(dir);
    const file = path.join(dir, 'copy.sqlite');
    expect((await callMain(dir, ['admin', 'backup', 'copy.sqlite'])).exitCode).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await callMain(dir, ['admin', 'backup', 'copy.sqlite']);
    expect(again).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('examines the state file', async ({ dir }) => {
    await waitingSum(dir);
    const { exitCode, stdout } = await callMain(dir, ['admin', 'doctor']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('the state file is sound');
  });

  test('thins out a run that goes on all the same', async ({ dir }) => {
    await waitingSum(dir);
    const pruned = await callMain(dir, ['admin', 'prune', 'sum', '--keep', '1', '--json']);
    expect(pruned.exitCode, pruned.stderr).toBe(0);
    expect((JSON.parse(pruned.stdout) as { removed: number }).removed).toBeGreaterThan(0);
    await callMain(dir, ['approve', 'sum']);
    await callMain(dir, ['resume', 'sum']);
    await callMain(dir, ['approve', 'sum']);
    expect((await callMain(dir, ['resume', 'sum'])).exitCode).toBe(0);
    expect((await callMain(dir, ['prune', 'sum', '--keep', '0'])).exitCode).toBe(2);
  });

  test('ends a run for good', async ({ dir }) => {
    await waitingSum(dir);
    expect((await callMain(dir, ['admin', 'pause', 'sum'])).stdout).toContain('devs resume sum');
    const paused = await callMain(dir, ['pause', 'sum', '--abort', '--by', 'ada', '--json']);
    expect(JSON.parse(paused.stdout)).toEqual({
      ...{ id: 'sum', requested: 'pause', abort: true, accepted: true, status: 'waiting' },
    });
    expect((await callMain(dir, ['log', 'sum'])).stdout).toContain(
      'pause requested, with calls in flight aborted, by human:ada',
    );
    expect(await callMain(dir, ['admin', 'cancel', 'sum'])).toMatchObject({
      exitCode: 0,
      stdout: 'sum is cancelled; its commits and its log are kept\n',
    });
    expect((await callMain(dir, ['status', 'sum'])).stdout).toMatch(/status +cancelled/);
    expect((await callMain(dir, ['resume', 'sum'])).stdout).toContain('cancelled');
  });

  test('tells of a run that has ended that there is nothing to stop', async ({ dir }) => {
    await waitingSum(dir);
    const first = await callMain(dir, ['cancel', 'sum', '--json']);
    expect(JSON.parse(first.stdout)).toEqual({
      ...{ id: 'sum', requested: 'cancel', accepted: true, status: 'cancelled' },
    });
    const again = await callMain(dir, ['cancel', 'sum', '--json']);
    expect(again.exitCode).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ accepted: false, status: 'cancelled' });
    expect(await callMain(dir, ['pause', 'sum', '--by', 'ada'])).toMatchObject({
      ...{ exitCode: 0, stdout: 'nothing to pause: sum has already ended: cancelled\n' },
    });
    expect((await callMain(dir, ['log', 'sum'])).stdout).not.toContain('by human:ada');
  });

  test('creates nothing where nothing was ever run', async ({ dir }) => {
    for (const argv of [
      ['doctor'],
      ['explain', 'sum'],
      ['pause', 'sum'],
      ['prune', 'sum'],
      ['backup', 'a'],
    ]) {
      expect((await callMain(dir, ['admin', ...argv])).exitCode).toBe(4);
    }
    expect(existsSync(path.join(dir, '.devs'))).toBe(false);
  });
});
