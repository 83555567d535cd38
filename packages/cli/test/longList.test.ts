import { join } from 'node:path';
import { Orchestrator } from '@devs/core';
import { expect, vi } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

test('the list of many runs is told with a page of them in memory, each once and the newest first', async ({
  dir,
}) => {
  const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
  for (let n = 1; n <= 100; n += 1) await devs.start({ id: `run-${n}`, brief: `# Brief ${n}` });
  const ids = await devs.ids();
  devs.close();
  const list = vi.spyOn(Orchestrator.prototype, 'list');
  const { stdout, exitCode } = await callMain(dir, ['status']);
  const limits = list.mock.calls.map(([page]) => page?.limit ?? Number.POSITIVE_INFINITY);
  list.mockRestore();
  const [, ...rows] = stdout.trimEnd().split('\n');
  expect(exitCode).toBe(0);
  expect(rows.pop()).toBe('show one: devs status run-100');
  expect(rows.map((row) => row.split(' ', 1).join(''))).toEqual(ids);
  expect(Math.max(...limits)).toBeLessThanOrEqual(50);
});
