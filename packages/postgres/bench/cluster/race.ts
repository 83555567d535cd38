import { randomUUID } from 'node:crypto';
import { KEEPERS, type Keeper, type KeeperName, openKeeper, type Place, type Shape } from './keepers.ts';
import { serverCpuMs } from './serverCpu.ts';

/** Of one super-step, ms. */
export interface Lap {
  readonly workerCpuMs: number;
  readonly serverCpuMs: number;
  /** By the clock, all runs together. */
  readonly ms: number;
}

/** A lap of runs of so many super-steps; one of runs twice as long; and what the second half alone has taken. */
export interface Laps {
  readonly whole: Lap;
  readonly further: Lap;
}

export interface RaceOptions extends Place {
  readonly rounds: number;
  /** At the same time, in this process. */
  readonly runs: number;
  /** After this time of `performance.now()`, only the first two rounds begin. */
  readonly until: number;
  /** Called after each lap. */
  readonly tell: (line: string) => void;
}

/**
 * Every keeper does the same in every round, one after the other; the first round warms up. Runs of one length and of twice
 * that: what the longer ones take more is of super-steps alone, without what a run takes to begin and to end.
 */
export async function race(
  { steps, calls }: Shape,
  { rounds, runs, until, tell, ...place }: RaceOptions,
): Promise<ReadonlyMap<KeeperName, readonly Laps[]>> {
  const laps = new Map<KeeperName, Laps[]>(KEEPERS.map((name) => [name, []]));
  const open = (name: KeeperName, length: number) => openKeeper(name, { steps: length, calls }, place);
  const keepers = await Promise.all(
    KEEPERS.map(async (name) => ({
      name,
      short: await open(name, steps),
      long: await open(name, 2 * steps),
    })),
  );
  for (let round = 0; round <= rounds && (round < 2 || performance.now() < until); round += 1) {
    for (const { name, short, long } of keepers) {
      const from = performance.now();
      const [one, two] = [await lapOf(short, runs, place.url), await lapOf(long, runs, place.url)];
      const per = (lap: Lap): Lap => dividedBy(lap, runs * steps);
      if (round > 0) laps.get(name)?.push({ whole: per(one), further: per(minus(two, one)) });
      const took = ((performance.now() - from) / 1000).toFixed(1);
      const memory = Math.round(process.memoryUsage().rss / 1e6);
      tell(
        `${calls ? 'steps with a call' : 'steps'}, ${runs} runs, round ${round} of ${rounds}, ${name}: ${took} s, ${memory} MB`,
      );
    }
  }
  for (const { short, long } of keepers) {
    await short.close();
    await long.close();
  }
  return laps;
}

/** @param atOnce - At the same time. @defaultValue all of them */
export async function lapOf(keeper: Keeper, runs: number, url: string, atOnce = runs): Promise<Lap> {
  const ids = Array.from({ length: runs }, () => randomUUID());
  for (const id of ids) await keeper.prepare(id);
  const before = now(url);
  for (let at = 0; at < runs; at += atOnce)
    await Promise.all(ids.slice(at, at + atOnce).map((id) => keeper.run(id)));
  const lap = since(before, url);
  for (const id of ids) await keeper.forget(id);
  return lap;
}

const dividedBy = ({ workerCpuMs, serverCpuMs, ms }: Lap, by: number): Lap => ({
  workerCpuMs: workerCpuMs / by,
  serverCpuMs: serverCpuMs / by,
  ms: ms / by,
});

const minus = (a: Lap, b: Lap): Lap => ({
  workerCpuMs: a.workerCpuMs - b.workerCpuMs,
  serverCpuMs: a.serverCpuMs - b.serverCpuMs,
  ms: a.ms - b.ms,
});

const now = (url: string) => ({
  cpu: process.cpuUsage(),
  server: serverCpuMs(Number(new URL(url).port)),
  at: performance.now(),
});

function since(before: ReturnType<typeof now>, url: string): Lap {
  const { user, system } = process.cpuUsage(before.cpu);
  return {
    workerCpuMs: (user + system) / 1000,
    serverCpuMs: serverCpuMs(Number(new URL(url).port)) - before.server,
    ms: performance.now() - before.at,
  };
}
