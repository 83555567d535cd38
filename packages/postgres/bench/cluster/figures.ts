import { median, round } from '../../../core/bench/state/figures.ts';
import { KEEPERS, type KeeperName, type Place } from './keepers.ts';
import { type Lap, type Laps, type RaceOptions, race } from './race.ts';

/** Medians of the rounds, of one super-step. */
export interface Figures {
  readonly workerCpuMs: number;
  /** Of those of a local file without fsync in the same round. */
  readonly toFile: number;
  readonly serverCpuMs: number;
  readonly perSecond: number;
}

export interface KeeperFigures {
  readonly keeper: KeeperName;
  /** Without what a run takes to begin and to end. */
  readonly further: Figures;
  /** Of a whole run. */
  readonly whole: Figures;
}

/** By the number of runs at the same time, of a super-step of whole runs. */
export interface PerRuns {
  readonly counts: readonly number[];
  readonly keepers: readonly {
    readonly keeper: KeeperName;
    readonly workerCpuMs: readonly number[];
    readonly serverCpuMs: readonly number[];
    readonly perSecond: readonly number[];
  }[];
}

const BESIDE = 'devs file, no fsync';

export function figuresOf(laps: ReadonlyMap<KeeperName, readonly Laps[]>): readonly KeeperFigures[] {
  return [...laps].map(([keeper, own]) => {
    const beside = laps.get(BESIDE) ?? [];
    const of = (part: keyof Laps): Figures =>
      medians(
        own.map((lap) => lap[part]),
        beside.map((lap) => lap[part]),
      );
    return { keeper, further: of('further'), whole: of('whole') };
  });
}

function medians(own: readonly Lap[], beside: readonly Lap[]): Figures {
  const ratios = own.map((lap, at) => lap.workerCpuMs / (beside[at]?.workerCpuMs ?? Number.NaN));
  return {
    workerCpuMs: round(median(own.map((lap) => lap.workerCpuMs))),
    toFile: round(median(ratios)),
    serverCpuMs: round(median(own.map((lap) => lap.serverCpuMs)), 3),
    perSecond: round(1000 / median(own.map((lap) => lap.ms)), 0),
  };
}

/** Super-steps of a run. */
const LENGTH = 30;
const ROUNDS = 3;

export async function perRuns(
  place: Place,
  counts: readonly number[],
  { until, tell }: Pick<RaceOptions, 'until' | 'tell'>,
): Promise<PerRuns> {
  const found: (readonly KeeperFigures[])[] = [];
  for (const [at, runs] of counts.entries()) {
    const share = performance.now() + (until - performance.now()) / (counts.length - at);
    const laps = await race(
      { steps: LENGTH, calls: true },
      { ...place, rounds: ROUNDS, runs, until: share, tell },
    );
    found.push(figuresOf(laps));
  }
  const keepers = KEEPERS.map((keeper) => {
    const its = found
      .flatMap((all) => all.filter((each) => each.keeper === keeper))
      .map(({ whole }) => whole);
    return {
      keeper,
      workerCpuMs: its.map(({ workerCpuMs }) => workerCpuMs),
      serverCpuMs: its.map(({ serverCpuMs }) => serverCpuMs),
      perSecond: its.map(({ perSecond }) => perSecond),
    };
  });
  return { counts, keepers };
}
