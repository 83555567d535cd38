import { median, round } from '../state/figures.ts';
import { STANDS, type StandName } from './stands.ts';

/** Of each of both. */
export type OfBoth<Value> = Readonly<Record<StandName, Value>>;

/** Both in every round, one after the other and in the next round the other way round: what disturbs one disturbs both. */
export async function inTurn<Lap>(
  rounds: number,
  lap: (name: StandName, round: number) => Promise<Lap>,
): Promise<readonly OfBoth<Lap>[]> {
  const laps: OfBoth<Lap>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? STANDS : STANDS.toReversed();
    const found = {} as Record<StandName, Lap>;
    for (const name of order) found[name] = await lap(name, round);
    laps.push(found);
  }
  return laps;
}

/** What `of` gives for each of both, over all rounds. */
export const ofBoth = <Value>(of: (name: StandName) => Value): OfBoth<Value> => ({
  devs: of('devs'),
  official: of('official'),
});

/** Median of the ratios within the rounds. */
export const ratioOf = <Lap>(laps: readonly OfBoth<Lap>[], of: (lap: Lap) => number): number =>
  round(median(laps.map(({ devs, official }) => of(devs) / of(official))));

/** Milliseconds that `work` takes: by the clock, and of the processor of this process. */
export async function timed(
  work: () => Promise<void>,
): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const [cpu, since] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - since, cpuMs: (user + system) / 1000 };
}
