import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, percentile, round } from '../../../core/bench/state/figures.ts';
import { postgres } from '../../src/postgres.ts';
import { Fleet } from '../../test/chaos/Fleet.ts';
import { type Entry, entriesOf } from '../../test/chaos/ledger.ts';
import { lifeApp } from '../../test/chaos/life.ts';
import type { Place } from './keepers.ts';
import type { WaitingTime } from './waiting.ts';

export interface Takeovers {
  readonly kills: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly mostMs: number;
}

type Begun = Extract<Entry, { readonly is: 'begun' }>;

/** From `kill -9` of the worker that makes a call of a run until another one, which has free slots, makes the next. */
export async function takeovers(
  { url, dir }: Place,
  kills: number,
  { until, tell }: WaitingTime,
): Promise<Takeovers> {
  const ledger = join(dir, 'ledger');
  writeFileSync(ledger, '');
  const runs = postgres({ url, dir });
  const app = lifeApp(runs, () => Promise.reject(new Error('This process makes no calls.')));
  // Calls take long: each run is in one when its worker is killed.
  const fleet = new Fleet({ url, dir, ledger, slots: 4, callMs: 2000 });
  const begunOf = (id: string): readonly Begun[] =>
    entriesOf(ledger).filter((entry): entry is Begun => entry.is === 'begun' && entry.run === id);
  const times: number[] = [];
  await Promise.all([fleet.add(), fleet.add()]);
  for (let kill = 0; kill < kills && (kill === 0 || performance.now() < until); kill += 1) {
    const id = `taken-${kill}`;
    await app.start(id, { run: id });
    while (begunOf(id).length < 2) await sleep(5); // both branches
    const holder = begunOf(id)[0]?.pid;
    const victim = fleet.workers.find(({ pid }) => pid === holder);
    if (victim === undefined) throw new Error('Nobody makes the call.');
    const from = Date.now();
    await fleet.kill(victim);
    const next = (): Begun | undefined => begunOf(id).find(({ pid }) => pid !== holder);
    while (next() === undefined) await sleep(5);
    tell(`kill ${kill + 1} of ${kills}`);
    times.push((next()?.at ?? Number.NaN) - from);
    await app.cancel(id);
    await fleet.add();
  }
  await fleet.end();
  await runs.close();
  return {
    kills: times.length,
    p50Ms: round(median(times), 0),
    p95Ms: round(percentile(times, 0.95), 0),
    mostMs: round(Math.max(...times), 0),
  };
}
