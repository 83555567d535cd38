import { median, round } from '../../../core/bench/state/figures.ts';
import { openKeeper, type Place } from './keepers.ts';
import { type Lap, lapOf, type RaceOptions } from './race.ts';

/** Whole runs without a call, beside LangGraph with its own saver for PostgreSQL. */
export interface BesideSaver {
  /** Super-steps of a run. */
  readonly steps: number;
  readonly atOnce: number;
  /** Medians of the rounds, of a run, ms. */
  readonly workerCpuMs: number;
  readonly saverWorkerCpuMs: number;
  /** Of the saver's in the same round: the median, the least and the most. */
  readonly worker: readonly [median: number, least: number, most: number];
  readonly server: number;
}

/** Of a lap. */
const RUNS = 20;
const SHAPES = [
  { steps: 1, atOnce: 20 },
  { steps: 20, atOnce: 4 },
  { steps: 20, atOnce: 20 },
] as const;

/** Both do the same in every round, one after the other; the first round warms up. */
export async function besideSaver(
  place: Place,
  { rounds, until, tell }: Pick<RaceOptions, 'rounds' | 'until' | 'tell'>,
): Promise<readonly BesideSaver[]> {
  const found: BesideSaver[] = [];
  for (const { steps, atOnce } of SHAPES) {
    const shape = { steps, calls: false };
    const [own, saver] = [
      await openKeeper('devs cluster', shape, place),
      await openKeeper('LangGraph PostgresSaver', shape, place),
    ];
    const laps: { readonly own: Lap; readonly saver: Lap }[] = [];
    for (let lap = 0; lap <= rounds && (lap < 2 || performance.now() < until); lap += 1) {
      const both = {
        own: await lapOf(own, RUNS, place.url, atOnce),
        saver: await lapOf(saver, RUNS, place.url, atOnce),
      };
      if (lap > 0) laps.push(both);
      tell(`${steps} super-steps, ${atOnce} at a time, round ${lap} of ${rounds}: ${round(workers(both))}`);
    }
    await own.close();
    await saver.close();
    const ratios = laps.map(workers);
    found.push({
      ...{ steps, atOnce },
      workerCpuMs: round(median(laps.map((lap) => lap.own.workerCpuMs)) / RUNS, 1),
      saverWorkerCpuMs: round(median(laps.map((lap) => lap.saver.workerCpuMs)) / RUNS, 1),
      worker: [round(median(ratios)), round(Math.min(...ratios)), round(Math.max(...ratios))],
      server: round(median(laps.map((lap) => lap.own.serverCpuMs / lap.saver.serverCpuMs))),
    });
  }
  return found;
}

const workers = ({ own, saver }: { readonly own: Lap; readonly saver: Lap }): number =>
  own.workerCpuMs / saver.workerCpuMs;
