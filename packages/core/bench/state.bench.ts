// `pnpm bench:state [--quick] [--json]`: the state file against LangGraph's own savers. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Contender, type ContenderName, NAMES, openContender } from './state/contenders.ts';
import { MB, median, percentile, round, table } from './state/figures.ts';
import { memoryGrowth } from './state/memoryGrowth.ts';
import { type Lap, race } from './state/race.ts';
import { walUnderReaders } from './state/walUnderReaders.ts';
import { appending, changing, pipeline, type Workload } from './state/workloads.ts';

const quick = process.argv.includes('--quick');
const json = process.argv.includes('--json');
const scale = quick ? 10 : 1;

/** The last steps are the ones a growing history makes slow. */
const LAST_STEPS = 100;
const READS = 300;

interface Result {
  readonly workload: string;
  readonly contender: string;
  readonly megabytes: number | null;
  readonly stepMs: number;
  readonly lastStepsMs: number;
  readonly p95Ms: number;
  readonly readMs: number;
}

const folder = mkdtempSync(join(tmpdir(), 'devs-bench-'));

async function measure(
  workload: Workload,
  names: readonly ContenderName[] = NAMES,
): Promise<readonly Result[]> {
  const room = mkdtempSync(join(folder, 'w-'));
  const contenders = names.map((name) => openContender(name, room));
  const laps = await race(workload, contenders);
  const reads = await readTimes(contenders);
  const results = laps.map((lap, at) => resultOf(workload, lap, reads[at] ?? []));
  for (const contender of contenders) contender.close();
  rmSync(room, { recursive: true });
  if (!json) report(workload, results);
  return results;
}

/** Milliseconds of reading the newest checkpoint, in turn. */
async function readTimes(contenders: readonly Contender[]): Promise<readonly (readonly number[])[]> {
  const times = contenders.map((): number[] => []);
  for (let read = 0; read < READS; read += 1) {
    for (const [at, { saver }] of contenders.entries()) {
      const begin = performance.now();
      await saver.getTuple({ configurable: { thread_id: 'bench' } });
      times[at]?.push(performance.now() - begin);
    }
  }
  return times;
}

function resultOf({ name }: Workload, { contender, times }: Lap, reads: readonly number[]): Result {
  const size = contender.size();
  return {
    workload: name,
    contender: contender.name,
    megabytes: size === null ? null : round(size / MB),
    stepMs: round(median(times), 3),
    lastStepsMs: round(median(times.slice(-LAST_STEPS)), 3),
    p95Ms: round(percentile(times, 0.95), 3),
    readMs: round(median(reads), 3),
  };
}

function report({ name }: Workload, results: readonly Result[]): void {
  const rows = results.map((it) => [
    it.contender,
    it.megabytes ?? '–',
    it.stepMs,
    it.lastStepsMs,
    it.p95Ms,
    it.readMs,
  ]);
  const head = ['saver', 'MB', 'step p50 ms', `last ${LAST_STEPS} p50 ms`, 'p95 ms', 'getTuple p50 ms'];
  console.log(`\n### ${name}\n\n${table(head, rows)}`);
}

// The official saver would write 2 GB each; what is asked here is how our own file grows.
const ours: readonly ContenderName[] = ['devs normal'];
const results = [
  ...(await measure(changing(1000 / scale))),
  ...(await measure(appending(1000 / scale, 'text'))),
  ...(await measure(appending(1000 / scale, 'random'))),
  ...(await measure(appending(2000 / scale, 'text'), ours)),
  ...(await measure(appending(2000 / scale, 'random'), ours)),
  ...(await measure(pipeline(300 / scale))),
];
const memory = {
  changingMB: round(memoryGrowth('devs full', 'changing', Math.max(1000 / scale, 150)) / MB, 1),
  appendingMB: round(memoryGrowth('devs full', 'appending', Math.max(1000 / scale, 150)) / MB, 1),
  memorySaverChangingMB: round(memoryGrowth('memory', 'changing', Math.max(1000 / scale, 150)) / MB, 1),
};
const walMB = round((await walUnderReaders(folder, 2000 / scale)) / MB, 1);
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
if (json) {
  console.log(JSON.stringify({ machine, quick, results, memory, walMB }));
} else {
  console.log(`\nmemory growth after 100 steps (external + RSS, MB): ${JSON.stringify(memory)}`);
  console.log(`largest write-ahead log under two polling readers: ${walMB} MB`);
  console.log(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`);
}
