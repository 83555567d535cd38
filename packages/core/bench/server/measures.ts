import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MB, median, percentile, round } from '../state/figures.ts';
import { inTurn, type OfBoth, ofBoth, ratioOf, timed } from './inTurn.ts';
import { openStand, type Stand, type StandName, type StandOptions } from './stands.ts';
import { TurnWatch } from './turns.ts';

/** A short run, warm, one after the other. */
export interface ShortRuns {
  readonly from: 'start to end' | 'answer to end';
  /** Of a run. */
  readonly cpuMs: OfBoth<number>;
  readonly cpuRatio: number;
  readonly wallRatio: number;
}

const RUNS_A_LAP = 20;

export async function shortRuns(folder: string, rounds: number): Promise<readonly ShortRuns[]> {
  return withStands({ folder, what: 'short' }, async (stands) => {
    const starts = (name: StandName, nth: number) =>
      timed(() => inOrder(RUNS_A_LAP, (run) => stands[name].run(`start-${nth}-${run}`)));
    const answers = async (name: StandName, nth: number) => {
      const id = (run: number): string => `answer-${nth}-${run}`;
      await inOrder(RUNS_A_LAP, (run) => stands[name].ask(id(run)));
      return timed(() => inOrder(RUNS_A_LAP, (run) => stands[name].answer(id(run))));
    };
    const figures: ShortRuns[] = [];
    for (const [from, lap] of [
      ['start to end', starts],
      ['answer to end', answers],
    ] as const) {
      await inTurn(2, (name, nth) => lap(name, -1 - nth)); // warm
      const laps = await inTurn(rounds, lap);
      figures.push({
        from,
        cpuMs: ofBoth((name) => round(median(laps.map((it) => it[name].cpuMs)) / RUNS_A_LAP, 3)),
        cpuRatio: ratioOf(laps, ({ cpuMs }) => cpuMs),
        wallRatio: ratioOf(laps, ({ ms }) => ms),
      });
    }
    return figures;
  });
}

interface ManyRuns {
  readonly runsPerSecond: number;
  /** Of a run. */
  readonly cpuMs: number;
}

interface Laps {
  readonly rounds: number;
  /** Of a lap. */
  readonly ms: number;
}

/** Runs side by side in this process. */
export interface AtOnce {
  readonly atOnce: number;
  /** With processor milliseconds between two turns of the loop. */
  readonly stands: OfBoth<ManyRuns & { readonly turnP50Ms: number; readonly turnP99Ms: number }>;
  readonly cpuRatio: number;
  readonly speedRatio: number;
}

/** Each with a call of 5 ms; one that has ended is followed by the next. */
export async function atOnce(folder: string, side: number, { rounds, ms }: Laps): Promise<AtOnce> {
  return withStands({ folder, what: `at-once-${side}`, callMs: 5 }, async (stands) => {
    await inTurn(1, (name) => inOrder(5, (run) => stands[name].run(`warm-${run}`)));
    const laps = await inTurn(rounds, async (name, nth) => {
      const end = performance.now() + ms;
      let runs = 0;
      const follow = async (place: number): Promise<void> => {
        for (let next = 0; performance.now() < end; next += 1) {
          await stands[name].run(`${nth}-${place}-${next}`);
          runs += 1;
        }
      };
      const watch = new TurnWatch();
      const took = await timed(async () => {
        await Promise.all(Array.from({ length: side }, (_, place) => follow(place)));
      });
      return { turns: watch.stop(), perSecond: runs / (took.ms / 1000), cpuMs: took.cpuMs / runs };
    });
    return {
      atOnce: side,
      stands: ofBoth((name) => {
        const turns = laps.flatMap((lap) => lap[name].turns);
        return {
          runsPerSecond: round(median(laps.map((lap) => lap[name].perSecond)), 0),
          cpuMs: round(median(laps.map((lap) => lap[name].cpuMs))),
          turnP50Ms: round(median(turns)),
          turnP99Ms: round(percentile(turns, 0.99)),
        };
      }),
      cpuRatio: ratioOf(laps, ({ cpuMs }) => cpuMs),
      speedRatio: ratioOf(laps, ({ perSecond }) => perSecond),
    };
  });
}

/** From a decision to the node that goes on, by the clock; so many runs are decided at the same moment. */
export interface Decisions {
  readonly atOnce: number;
  readonly stands: OfBoth<{ readonly p50Ms: number; readonly p99Ms: number; readonly cpuMs: number }>;
  readonly cpuRatio: number;
}

export async function decisions(
  folder: string,
  side: number,
  { rounds }: { readonly rounds: number },
): Promise<Decisions> {
  const effects = new Map<string, number>();
  const effect = (id: string): void => void effects.set(id, performance.now());
  return withStands({ folder, what: `decisions-${side}`, effect }, async (stands) => {
    const decided = async (name: StandName, nth: number) => {
      const ids = Array.from({ length: side }, (_, place) => `${nth}-${place}`);
      effects.clear();
      await Promise.all(ids.map((id) => stands[name].ask(id)));
      const since = performance.now();
      const { cpuMs } = await timed(async () => {
        await Promise.all(ids.map((id) => stands[name].answer(id)));
      });
      return { cpuMs: cpuMs / side, times: ids.map((id) => (effects.get(id) ?? Number.NaN) - since) };
    };
    await inTurn(2, (name, nth) => decided(name, -1 - nth)); // warm
    const laps = await inTurn(rounds, decided);
    return {
      atOnce: side,
      stands: ofBoth((name) => {
        const times = laps.flatMap((lap) => lap[name].times);
        return {
          p50Ms: round(median(times)),
          p99Ms: round(percentile(times, 0.99)),
          cpuMs: round(median(laps.map((lap) => lap[name].cpuMs))),
        };
      }),
      cpuRatio: ratioOf(laps, ({ cpuMs }) => cpuMs),
    };
  });
}

/** What so many short runs leave in memory and in the file. */
export interface Kept {
  readonly stand: StandName;
  readonly runs: number;
  /** Of the file, by run. */
  readonly bytesPerRun: number;
  /** Of the heap after a collection, at a fifth of the runs and at the end. */
  readonly heapMb: readonly [early: number, late: number];
  /** Of the process, at the same moments. */
  readonly rssMb: readonly [early: number, late: number];
  /** Of a run, by table and index, largest first. */
  readonly tables: Readonly<Record<string, TableBytes>>;
}

/** Bytes of a table or an index. */
export interface TableBytes {
  readonly payload: number;
  /** Of its pages: with what is free in them. */
  readonly pages: number;
}

export async function kept(folder: string, name: StandName, runs: number): Promise<Kept> {
  const stand = openStand(name, join(folder, `${name}-kept.sqlite`), { callMs: 0 });
  const before = sizesOf(stand);
  await inOrder(runs / 5, (run) => stand.run(`early-${run}`));
  const early = memory();
  await inOrder((runs * 4) / 5, (run) => stand.run(`late-${run}`));
  const late = memory();
  const sizes = sizesOf(stand);
  const tables = [...sizes].map(([table, now]) => {
    const then = before.get(table) ?? { payload: 0, pages: 0 };
    const each = (what: keyof TableBytes): number => round((now[what] - then[what]) / runs, 0);
    return [table, { payload: each('payload'), pages: each('pages') }] as const;
  });
  stand.db.pragma('wal_checkpoint(TRUNCATE)');
  const bytesPerRun = round(statSync(stand.db.name).size / runs, 0);
  stand.close();
  const largest = tables.filter(([, { pages }]) => pages > 0).toSorted(([, x], [, y]) => y.pages - x.pages);
  return {
    ...{ stand: name, runs, bytesPerRun },
    heapMb: [early.heapMb, late.heapMb],
    rssMb: [early.rssMb, late.rssMb],
    tables: Object.fromEntries(largest),
  };
}

function memory(): { readonly heapMb: number; readonly rssMb: number } {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapMb: round(heapUsed / MB), rssMb: round(rss / MB, 0) };
}

/** Of every table and index. */
function sizesOf({ db }: Stand): ReadonlyMap<string, TableBytes> {
  const rows = db
    .prepare<[], { readonly name: string } & TableBytes>(
      'SELECT name, sum(payload) AS payload, sum(pgsize) AS pages FROM dbstat GROUP BY name',
    )
    .all();
  return new Map(rows.map(({ name, payload, pages }) => [name, { payload, pages }]));
}

async function inOrder(count: number, work: (nth: number) => Promise<void>): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await work(nth);
}

interface Opening extends Partial<StandOptions> {
  readonly folder: string;
  readonly what: string;
}

/** Both over files of their own, closed afterwards. */
async function withStands<Figures>(
  { folder, what, ...options }: Opening,
  measure: (stands: OfBoth<Stand>) => Promise<Figures>,
): Promise<Figures> {
  const stands = ofBoth((name) =>
    openStand(name, join(folder, `${name}-${what}.sqlite`), { callMs: 0, ...options }),
  );
  const figures = await measure(stands);
  for (const stand of Object.values(stands)) stand.close();
  return figures;
}
