import { type RaceOptions, type StepTime, timed } from './race.ts';
import { type Keeper, ownGraph } from './subjects.ts';

/** What one recorded call is more, of a visit that makes it: by round, in turn with visits that only make the call. */
export async function recordedStep(
  visits: number,
  keeper: Keeper,
  { folder, rounds, warmUp }: RaceOptions,
): Promise<readonly StepTime[]> {
  const [recorded, made] = [ownGraph(visits), ownGraph(visits, { isRecorded: false })];
  const more: StepTime[] = [];
  for (let round = 0; round < warmUp + rounds; round += 1) {
    // Another one begins each time.
    const turn = round % 2 === 0 ? [recorded, made] : [made, recorded];
    const times = new Map<typeof recorded, StepTime>();
    for (const subject of turn) times.set(subject, await timed(subject, keeper, folder));
    const [whole, rest] = [times.get(recorded), times.get(made)];
    if (round < warmUp || whole === undefined || rest === undefined) continue;
    more.push({ ms: whole.ms - rest.ms, cpuMs: whole.cpuMs - rest.cpuMs });
  }
  return more;
}
