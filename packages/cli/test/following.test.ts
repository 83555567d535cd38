import { join } from 'node:path';
import { Orchestrator, type Run } from '@devs/core';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

describe('devs log --follow', () => {
  test('ends with a run whose end comes between two looks at it', async ({ dir }) => {
    const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
    onTestFinished(() => devs.close());
    const run = await devs.start({ id: 'r', brief: '# B' });
    const { log } = run;
    const reads = vi.spyOn(Object.getPrototypeOf(run) as Run, 'log');
    onTestFinished(() => reads.mockRestore());
    reads.mockImplementationOnce(async (...query) => {
      await run.cancel();
      await run.resume();
      return log.apply(run, query);
    });

    const signal = AbortSignal.timeout(20_000);
    const { exitCode, stdout } = await callMain(dir, ['log', 'r', '--follow'], { signal });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('ended: cancelled');
    expect(signal.aborted).toBe(false);
  });
});
