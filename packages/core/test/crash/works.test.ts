import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { countingApp } from './countingApp.ts';

const RUNS = howMany('DEVS_WORK_RUNS', 200);
const KILLS = howMany('DEVS_WORK_KILLS', 1);

describe('two processes that work one file', () => {
  test('execute each run once, whichever of them is killed', {
    timeout: longer(60_000, RUNS / 100),
  }, async ({ dbPath }) => {
    const effects = join(dirname(dbPath), 'effects');
    const app = countingApp(dbPath, () => Promise.reject(new Error('not here')));
    onTestFinished(() => app.close() as Promise<void>);
    const begin = () => {
      const started = spawnProgram('packages/core/test/crash/works.child.ts', [dbPath, effects]);
      onTestFinished(() => void started.child.kill('SIGKILL'));
      return started;
    };
    let workers = [begin(), begin()];
    for (let index = 0; index < RUNS; index += 1) await app.start(`run-${index}`, { id: `run-${index}` });
    const lines = (): readonly string[] => readFileSync(effects, 'utf8').trimEnd().split('\n');
    const killed: number[] = [];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until(() => lines().length > (kill * RUNS * 4) / (KILLS + 1) / 2);
      const [victim, other] = workers as [(typeof workers)[0], (typeof workers)[0]];
      victim.child.kill('SIGKILL');
      killed.push(victim.child.pid ?? 0);
      workers = [other, begin()];
    }
    for (let index = 0; index < RUNS; index += 1)
      expect(await app.result(`run-${index}`, { wait: true })).toMatchObject({ status: 'completed' });
    for (const { child } of workers) child.kill('SIGTERM');
    for (const { finished } of workers) expect(await finished).toMatchObject({ code: 0, stderr: '' });
    expect(repeated(lines()).length).toBeLessThanOrEqual(8 * KILLS); // calls in flight of the killed
    const made = new Set(lines().flatMap((line) => (line.startsWith('begun') ? [] : line.split(' ')[0])));
    expect(made.size).toBeGreaterThan(1);
  });
});

/** Calls that were begun more often than once. */
const repeated = (lines: readonly string[]): readonly string[] => {
  const begun = lines.filter((line) => line.startsWith('begun'));
  return begun.filter((line, index) => begun.indexOf(line) !== index);
};

async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; looks < 6_000; looks += 1) {
    try {
      if (isSo()) return;
    } catch {
      // The file is still to come.
    }
    await sleep(5);
  }
  throw new Error('It has not come.');
}
