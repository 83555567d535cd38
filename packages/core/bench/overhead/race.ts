import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { median, percentile, round } from '../state/figures.ts';
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
  for (let lap = 0; lap < warmUp + rounds; lap += 1) {
    // Another one begins each time: nobody always runs in the wake of the same neighbour.
    const first = lap % keepers.length;
    for (const keeper of [...keepers.slice(first), ...keepers.slice(0, first)]) {
      const step = await timed(subject, keeper, folder);
      if (lap >= warmUp) times.get(keeper)?.push(step);
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

/** Of two keepers; the ratio of each round is taken on its own: both ran in the same second. */
export interface Ratio {
  readonly median: number;
  readonly quarter: number;
  readonly threeQuarters: number;
  /** Of processor time, in the middle. */
  readonly cpu: number;
}

export function ratioOf(lap: Lap, pair: readonly [ours: Keeper, theirs: Keeper]): Ratio {
  const ratios = ratiosOf(lap, pair, 'ms');
  return {
    median: round(median(ratios)),
    quarter: round(percentile(ratios, 0.25)),
    threeQuarters: round(percentile(ratios, 0.75)),
    cpu: round(median(ratiosOf(lap, pair, 'cpuMs'))),
  };
}

function ratiosOf(
  lap: Lap,
  [ours, theirs]: readonly [Keeper, Keeper],
  of: keyof StepTime,
): readonly number[] {
  const reference = lap.get(theirs) ?? [];
  return (lap.get(ours) ?? []).map((time, at) => time[of] / (reference[at]?.[of] ?? Number.NaN));
}
