import { mkdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { spawnProgram, type TsProcess } from '../support/spawnTs.ts';
import { hangingApps, PLACES, type Place } from './hangingRuns.ts';

/** Runs that are cancelled, of each place. */
const CANCELS = howMany('DEVS_CANCELS', 1);
/** Processes that are killed around a cancel. */
const KILLS = howMany('DEVS_CANCEL_KILLS', 1);
const KILLED_IN: readonly Place[] = KILLS > 1 ? PLACES : ['tool', 'child'];
/** Where so many were timed, the slowest of the quickest 95% may have taken so long, ms. */
const [MANY, MOST_MS] = [200, 200];

const CHILD = 'packages/core/test/drive/hangingRuns.child.ts';

/** The lines a process prints, one at a time. */
function linesOf({ child }: TsProcess): () => Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  return async () => String((await lines.next()).value);
}

function drivers(dbPath: string, place: Place, name: string, count: number) {
  const driver = spawnProgram(CHILD, [dbPath, place, name, String(count)]);
  onTestFinished(() => void driver.child.kill('SIGKILL'));
  return { driver, next: linesOf(driver) };
}

const appsAt = (dbPath: string) => {
  const apps = hangingApps(dbPath, () => {});
  onTestFinished(() => void apps.close());
  return apps;
};

/** Statuses of a run and of those below it, and how often their ends are in the log. */
function endsOf(apps: ReturnType<typeof hangingApps>, place: Place, id: string): readonly string[] {
  const { store } = internalsOf(apps.of(place));
  const ids = place === 'child' ? [id, `${id}/below`] : [id];
  return ids.map((each) => {
    const ends = store.log.list(each).filter(({ name }) => name === 'RUN_FINISHED').length;
    return `${store.threads.get(each)?.status} ${ends}`;
  });
}

const endedOnce = (place: Place): readonly string[] =>
  place === 'child' ? ['cancelled 1', 'cancelled 1'] : ['cancelled 1'];

function report(place: Place, times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  if (times.length >= MANY) {
    mkdirSync('test-results', { recursive: true });
    const figures = { place, runs: times.length, p50: at(0.5), p95: at(0.95), most: at(1) };
    writeFileSync(`test-results/cancel-${place.replace(' ', '-')}.json`, `${JSON.stringify(figures)}\n`);
  }
  return at(0.95);
}

describe('a run that another process cancels', () => {
  test.for(PLACES)(
    'ends, once, while it hangs in a %s',
    { timeout: longer(120_000, CANCELS / 20) },
    async (place, { dbPath }) => {
      const apps = appsAt(dbPath);
      const { next } = drivers(dbPath, place, 'run', CANCELS);
      const times: number[] = [];
      for (let nth = 0; nth < CANCELS; nth += 1) {
        const id = `run-${nth}`;
        expect(await next()).toBe(`begun ${id}`);
        const since = performance.now();
        await apps.of(place).cancel(id);
        while (internalsOf(apps.of(place)).store.threads.get(id)?.status !== 'cancelled') await sleep(1);
        times.push(performance.now() - since);
        expect(await next()).toMatch(/cancelled|end/);
        expect(endsOf(apps, place, id)).toEqual(endedOnce(place));
      }
      const p95 = report(place, times);
      if (CANCELS >= MANY) expect(p95).toBeLessThanOrEqual(MOST_MS);
    },
  );

  test.for(KILLED_IN)(
    'ends cancelled, once, when its driver is killed, in a %s',
    {
      timeout: longer(120_000, KILLS / 5),
    },
    async (place, { dbPath }) => {
      const apps = appsAt(dbPath);
      for (let nth = 0; nth < KILLS; nth += 1) {
        const { driver, next } = drivers(dbPath, place, `run${nth}`, 1);
        const id = `run${nth}-0`;
        expect(await next()).toBe(`begun ${id}`);
        const killing = sleep(Math.random() * 30).then(() => driver.child.kill('SIGKILL'));
        await apps.of(place).cancel(id);
        await killing;
        await driver.finished;
        await apps.of(place).run(id);
        expect(endsOf(apps, place, id)).toEqual(endedOnce(place));
        expect((await apps.of(place).runDue()).driven).toEqual([]);
      }
    },
  );

  test.for(KILLED_IN)(
    'ends cancelled, once, when who cancels it is killed, in a %s',
    {
      timeout: longer(120_000, KILLS / 5),
    },
    async (place, { dbPath }) => {
      const apps = appsAt(dbPath);
      for (let nth = 0; nth < KILLS; nth += 1) {
        const { driver, next } = drivers(dbPath, place, `run${nth}`, 1);
        const id = `run${nth}-0`;
        expect(await next()).toBe(`begun ${id}`);
        const at = Date.now() + (KILLS > 1 ? 1500 : 800);
        const args = [dbPath, place, id, String(at)];
        const canceller = spawnProgram('packages/core/test/drive/cancelsRun.child.ts', args);
        await linesOf(canceller)();
        await sleep(Math.max(0, at - Date.now()) + Math.random() * 30);
        canceller.child.kill('SIGKILL');
        await canceller.finished;
        await apps.of(place).cancel(id); // perhaps it was told nothing
        while (internalsOf(apps.of(place)).store.threads.get(id)?.status !== 'cancelled') await sleep(1);
        await driver.finished;
        expect(endsOf(apps, place, id)).toEqual(endedOnce(place));
      }
    },
  );
});
