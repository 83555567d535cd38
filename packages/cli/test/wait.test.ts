import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_SUM, test } from './support/fixtures.ts';

describe('devs run --wait', () => {
  test('stays at both gates and takes up what is decided elsewhere', async ({ dir }) => {
    const running = callMain(dir, [...RUN_SUM, '--wait']);
    for (const _gate of ['design', 'plan']) {
      // Refused until the gate's question is committed; a yes is for what was read.
      while ((await callMain(dir, ['show', 'sum'])).exitCode !== 0) await sleep(50);
      while ((await callMain(dir, ['approve', 'sum'])).exitCode !== 0) await sleep(50);
    }
    const { exitCode, stderr, stdout } = await running;
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('completed: sum');
  });
});
