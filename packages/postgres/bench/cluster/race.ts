import { randomUUID } from 'node:crypto';
import { KEEPERS, type KeeperName, openKeeper, type Place, type Shape } from './keepers.ts';
import { serverCpuMs } from './serverCpu.ts';

/** Of one super-step, ms. */
export interface Lap {
  readonly workerCpuMs: number;
  readonly serverCpuMs: number;
  /** By the clock, all runs together. */
  readonly ms: number;
}

export interface RaceOptions extends Place {
  readonly rounds: number;
  /** At the same time, in this process. */
  readonly runs: number;
}

/** Every keeper does the same in every round, one after the other; the first round warms up. */
export async function race(
  shape: Shape,
  { rounds, runs, ...place }: RaceOptions,
): Promise<ReadonlyMap<KeeperName, readonly Lap[]>> {
  const laps = new Map<KeeperName, Lap[]>(KEEPERS.map((name) => [name, []]));
  const keepers = new Map(
    await Promise.all(KEEPERS.map(async (name) => [name, await openKeeper(name, shape, place)] as const)),
  );
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, keeper] of keepers) {
      const ids = Array.from({ length: runs }, () => randomUUID());
      for (const id of ids) await keeper.prepare(id);
      const before = now(place.url);
      await Promise.all(ids.map((id) => keeper.run(id)));
      const lap = since(before, place.url, runs * shape.steps);
      if (round > 0) laps.get(name)?.push(lap);
    }
  }
  for (const keeper of keepers.values()) await keeper.close();
  return laps;
}

const now = (url: string) => ({
  cpu: process.cpuUsage(),
  server: serverCpuMs(Number(new URL(url).port)),
  at: performance.now(),
});

function since(before: ReturnType<typeof now>, url: string, steps: number): Lap {
  const { user, system } = process.cpuUsage(before.cpu);
  return {
    workerCpuMs: (user + system) / 1000 / steps,
    serverCpuMs: (serverCpuMs(Number(new URL(url).port)) - before.server) / steps,
    ms: (performance.now() - before.at) / steps,
  };
}
