import { median } from '../state/figures.ts';

/** CPU time that one sample takes at least, ms: the clock of a process is coarse. */
const SAMPLE_MS = 10;
const SAMPLES = 5;
/** Of what is done once per turn, such as a decision. */
const MAX_TURNS = 40;

/** CPU milliseconds of one turn: the median of some samples, after a turn that is not counted. */
export async function cpuMs(work: (turn: number) => unknown): Promise<number> {
  let turn = 0;
  await work(turn++);
  const samples: number[] = [];
  while (samples.length < SAMPLES && turn <= SAMPLES * MAX_TURNS) {
    const from = turn;
    const before = process.cpuUsage();
    let used = 0;
    while (used < SAMPLE_MS && turn - from < MAX_TURNS) {
      await work(turn++);
      const { user, system } = process.cpuUsage(before);
      used = (user + system) / 1000;
    }
    samples.push(used / (turn - from));
  }
  return median(samples);
}
