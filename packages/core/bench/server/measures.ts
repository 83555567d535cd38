import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MB, median, percentile, round } from '../state/figures.ts';
import { openStand, STANDS, type Stand, type StandName } from './stands.ts';
import { TurnWatch } from './turns.ts';

/** Between the two, in turn, so that a busy machine slows both. */
export interface ShortRuns {
  /** Processor milliseconds of a run. */
  readonly cpuMs: Readonly<Record<StandName, number>>;
  /** Median of the ratios within a round. */
  readonly cpuRatio: number;
  readonly wallRatio: number;
}

export async function shortRuns(folder: string, rounds: number, runs = 20): Promise<ShortRuns> {
  const stands = STANDS.map((name) => ({ name, stand: open({ name, folder, what: 'short' }) }));
  const laps: Record<StandName, { readonly cpuMs: number; readonly ms: number }>[] = [];
  for (let round = -2; round < rounds; round += 1) {
    const lap = {} as Record<StandName, { cpuMs: number; ms: number }>;
    for (const { name, stand } of round % 2 === 0 ? stands : stands.toReversed()) {
      const [cpu, since] = [process.cpuUsage(), performance.now()];
      for (let nth = 0; nth < runs; nth += 1) await stand.run(`${round}-${nth}`);
      const { user, system } = process.cpuUsage(cpu);
      lap[name] = { cpuMs: (user + system) / 1000 / runs, ms: (performance.now() - since) / runs };
    }
    if (round >= 0) laps.push(lap);
  }
  for (const { stand } of stands) stand.close();
  const of = (name: StandName): number => round(median(laps.map((lap) => lap[name].cpuMs)), 3);
  const ratio = (what: 'cpuMs' | 'ms'): number =>
    round(median(laps.map(({ devs, official }) => devs[what] / official[what])));
  return {
    cpuMs: { devs: of('devs'), official: of('official') },
    cpuRatio: ratio('cpuMs'),
    wallRatio: ratio('ms'),
  };
}

export interface AtOnce {
  readonly stand: StandName;
  readonly atOnce: number;
  readonly runsPerSecond: number;
  /** Processor milliseconds between two turns of the loop. */
  readonly turnP50Ms: number;
  readonly turnP99Ms: number;
}

/** Runs side by side in this process, each with a call of 5 ms; one that has ended is followed by the next. */
export async function atOnce(
  name: StandName,
  folder: string,
  { side, ms }: { readonly side: number; readonly ms: number },
): Promise<AtOnce> {
  const stand = open({ name, folder, what: `at-once-${side}` }, 5);
  await inTurn(stand, 'warm', 5);
  const end = performance.now() + ms;
  let runs = 0;
  const watch = new TurnWatch();
  const follow = async (place: number): Promise<void> => {
    for (let nth = 0; performance.now() < end; nth += 1) {
      await stand.run(`${place}-${nth}`);
      runs += 1;
    }
  };
  const since = performance.now();
  await Promise.all(Array.from({ length: side }, (_, place) => follow(place)));
  const turns = watch.stop();
  const seconds = (performance.now() - since) / 1000;
  stand.close();
  return {
    stand: name,
    atOnce: side,
    runsPerSecond: round(runs / seconds, 0),
    turnP50Ms: round(median(turns)),
    turnP99Ms: round(percentile(turns, 0.99)),
  };
}

export interface Decisions {
  readonly stand: StandName;
  /** From the decision to the node that goes on. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export async function decisions(name: StandName, folder: string, count: number): Promise<Decisions> {
  let effectAt = 0;
  const stand = open({ name, folder, what: 'decisions' }, 0, () => {
    effectAt = performance.now();
  });
  const times: number[] = [];
  for (let nth = -5; nth < count; nth += 1) {
    await stand.ask(`run${nth}`);
    const since = performance.now();
    await stand.answer(`run${nth}`);
    if (nth >= 0) times.push(effectAt - since);
  }
  stand.close();
  return { stand: name, p50Ms: round(median(times)), p99Ms: round(percentile(times, 0.99)) };
}

export interface Processes {
  readonly stand: StandName;
  readonly processes: number;
  readonly runsPerSecond: number;
  readonly errors: readonly string[];
}

const PROGRAM = fileURLToPath(new URL('driver.child.ts', import.meta.url));

/** Processes over one file; all are ready before the first one begins. */
export async function processes(
  name: StandName,
  folder: string,
  { count, ms }: { readonly count: number; readonly ms: number },
): Promise<Processes> {
  const file = join(folder, `${name}-processes-${count}.sqlite`);
  openStand(name, file, { callMs: 0 }).close();
  const children = Array.from({ length: count }, (_, at) => {
    const args = [
      '--conditions=@devs/source',
      '--import',
      'tsx',
      PROGRAM,
      name,
      file,
      `run${at}`,
      String(ms),
    ];
    const child = spawn(process.execPath, args);
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk) => (said.out += String(chunk)));
    child.stderr.on('data', (chunk) => (said.err += String(chunk)));
    return { child, said, closed: once(child, 'close') };
  });
  for (const { child, said, closed } of children)
    while (!said.out.startsWith('ready') && child.exitCode === null)
      await Promise.race([once(child.stdout, 'data'), closed]);
  for (const { child } of children) child.stdin.end('go\n');
  await Promise.all(children.map(({ closed }) => closed));
  const failed = children.filter(({ child }) => child.exitCode !== 0);
  const done = children.map(({ said }) => Number(said.out.slice('ready\n'.length)) || 0);
  return {
    ...{ stand: name, processes: count },
    runsPerSecond: round(done.reduce((sum, runs) => sum + runs, 0) / (ms / 1000), 0),
    errors: failed.map(({ said }) => said.err.trim().slice(0, 500)),
  };
}

export interface Kept {
  readonly stand: StandName;
  readonly runs: number;
  /** Of the file, by run. */
  readonly bytesPerRun: number;
  /** Of the heap after a collection, at a fifth of the runs and at the end. */
  readonly heapMb: readonly [early: number, late: number];
  /** Of a run, by table and index, largest first. */
  readonly tables: Readonly<Record<string, TableBytes>>;
}

/** Bytes of a table or an index. */
export interface TableBytes {
  readonly payload: number;
  /** Of its pages: with what is free in them. */
  readonly pages: number;
}

/** What so many short runs leave in memory and in the file. */
export async function kept(name: StandName, folder: string, runs: number): Promise<Kept> {
  const stand = open({ name, folder, what: 'kept' });
  const before = sizesOf(stand);
  await inTurn(stand, 'early', runs / 5);
  const early = heapMb();
  await inTurn(stand, 'late', (runs * 4) / 5);
  const late = heapMb();
  const sizes = sizesOf(stand);
  const tables = [...sizes].map(([table, now]) => {
    const then = before.get(table) ?? { payload: 0, pages: 0 };
    const each = (what: keyof TableBytes): number => round((now[what] - then[what]) / runs, 0);
    return [table, { payload: each('payload'), pages: each('pages') }] as const;
  });
  stand.db.pragma('wal_checkpoint(TRUNCATE)');
  const bytesPerRun = round(statSync(stand.db.name).size / runs, 0);
  stand.close();
  const largest = tables.filter(([, { pages }]) => pages > 0).toSorted(([, a], [, b]) => b.pages - a.pages);
  return { stand: name, runs, bytesPerRun, heapMb: [early, late], tables: Object.fromEntries(largest) };
}

async function inTurn(stand: Stand, prefix: string, runs: number): Promise<void> {
  for (let nth = 0; nth < runs; nth += 1) await stand.run(`${prefix}-${nth}`);
}

function heapMb(): number {
  globalThis.gc?.();
  return round(process.memoryUsage().heapUsed / MB);
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

interface Opening {
  readonly name: StandName;
  readonly folder: string;
  readonly what: string;
}

function open({ name, folder, what }: Opening, callMs = 0, effect?: (answer: unknown) => void): Stand {
  const file = join(folder, `${name}-${what}.sqlite`);
  return openStand(name, file, { callMs, ...(effect && { effect }) });
}
