import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { KEEPERS, type Keeper, type Subject } from './subjects.ts';

/** Milliseconds of one super-step: by the clock, and of the processor. */
export interface StepTime {
  readonly ms: number;
  readonly cpuMs: number;
}

/** One entry per round. */
export type Lap = ReadonlyMap<Keeper, readonly StepTime[]>;

export interface RaceOptions {
  readonly folder: string;
  readonly rounds: number;
  /** Rounds that are run first and not counted: code is compiled there. */
  readonly warmUp: number;
  /** @defaultValue all of {@link KEEPERS} */
  readonly keepers?: readonly Keeper[];
}

/** Runs a subject under every keeper in turn, round after round, so that what disturbs one disturbs all. */
export async function race(subject: Subject, options: RaceOptions): Promise<Lap> {
  const { folder, rounds, warmUp, keepers = KEEPERS } = options;
  const times = new Map<Keeper, StepTime[]>(keepers.map((keeper) => [keeper, []]));
  for (let round = 0; round < warmUp + rounds; round += 1) {
    // Another one begins each time: nobody always runs in the wake of the same neighbour.
    const first = round % keepers.length;
    for (const keeper of [...keepers.slice(first), ...keepers.slice(0, first)]) {
      const step = await timed(subject, keeper, folder);
      if (round >= warmUp) times.get(keeper)?.push(step);
    }
  }
  return times;
}

/** One run, by super-step. */
export async function timed(subject: Subject, keeper: Keeper, folder: string): Promise<StepTime> {
  const room = mkdtempSync(join(folder, 'run-'));
  const prepared = await subject.prepare(keeper, room);
  globalThis.gc?.();
  const [begin, used] = [performance.now(), process.cpuUsage()];
  await prepared.run();
  const { user, system } = process.cpuUsage(used);
  const ms = performance.now() - begin;
  prepared.close();
  rmSync(room, { recursive: true });
  return { ms: ms / subject.steps, cpuMs: (user + system) / 1000 / subject.steps };
}
