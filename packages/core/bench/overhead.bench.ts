// `pnpm bench:overhead [--quick] [--profile] [--tasks N] [--json]`: what the engine costs per super-step, beside plain LangGraph
// over its own savers, interleaved in one process, and what a recorded step is more; whose code that is; a pipeline of N tasks,
// of 400 unless `--quick`. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { countCommits } from './overhead/countCommits.ts';
import { type Ratio, race, ratioOf, type StepTime } from './overhead/race.ts';
import { recordedStep } from './overhead/recordedStep.ts';
import { OWNERS, type Owner, sharesOf } from './overhead/shares.ts';
import { startUpTimes } from './overhead/startUpTimes.ts';
import { KEEPERS, type Keeper, ownGraph, pipeline, type Subject } from './overhead/subjects.ts';
import { median, round, table } from './state/figures.ts';

const quick = process.argv.includes('--quick');
const json = process.argv.includes('--json');
const rounds = quick ? 5 : 25;
const folder = mkdtempSync(join(tmpdir(), 'devs-bench-'));

const PAIRS: readonly (readonly [Keeper, Keeper])[] = [
  ['devs normal', 'official normal'],
  ['devs full', 'official full'],
  ['devs normal', 'memory'],
];

/** Tasks of a long plan, and how often it is run: a round takes as long as eight of the short one. */
const LONG_PLAN = 400;
const LONG_ROUNDS = 5;

interface Result {
  readonly subject: string;
  readonly keepers: readonly {
    readonly keeper: Keeper;
    readonly stepMs: number;
    readonly cpuMs: number;
    readonly commits: number;
  }[];
  readonly ratios: readonly (Ratio & { readonly pair: string })[];
}

async function measure(
  make: (size: number) => Subject,
  size: number,
  counted: number = rounds,
): Promise<Result> {
  const subject = make(size);
  const lap = await race(subject, { folder, rounds: counted, warmUp: 3 });
  const keepers = [];
  for (const keeper of KEEPERS) {
    const times = lap.get(keeper) ?? [];
    const stepMs = round(median(times.map(({ ms }) => ms)), 3);
    const cpuMs = round(median(times.map((time) => time.cpuMs)), 3);
    keepers.push({ keeper, stepMs, cpuMs, commits: await commitsPerStep(make, size, keeper) });
  }
  return {
    subject: subject.name,
    keepers,
    ratios: PAIRS.map((pair) => ({ pair: pair.join(' / '), ...ratioOf(lap, pair) })),
  };
}

/** What one more super-step commits: a run of twice the size against this one. */
async function commitsPerStep(
  make: (size: number) => Subject,
  size: number,
  keeper: Keeper,
): Promise<number> {
  const [small, large] = [make(size), make(2 * size)];
  const more = (await commitsOf(large, keeper)) - (await commitsOf(small, keeper));
  return round(more / (large.steps - small.steps));
}

async function commitsOf(subject: Subject, keeper: Keeper): Promise<number> {
  const prepared = await subject.prepare(keeper, mkdtempSync(join(folder, 'count-')));
  const commits = await countCommits(prepared);
  prepared.close();
  return commits;
}

function report({ subject, keepers, ratios }: Result): void {
  console.log(`\n### ${subject}\n`);
  const rows = keepers.map(({ keeper, stepMs, cpuMs, commits }) => [
    keeper,
    stepMs,
    cpuMs,
    keeper === 'memory' ? '–' : commits,
  ]);
  console.log(table(['kept by', 'ms per super-step', 'of processor', 'commits per super-step'], rows));
  const lines = ratios.map((it) => [it.pair, it.median, `${it.quarter}–${it.threeQuarters}`, it.cpu]);
  console.log(`\n${table(['pair', 'median ratio', 'middle half', 'of processor'], lines)}`);
}

/** Whose code a super-step is spent in, under three keepers. */
async function profile(subject: Subject): Promise<void> {
  const keepers = ['devs normal', 'official normal', 'memory'] as const;
  const shares: ReadonlyMap<Owner, number>[] = [];
  for (const keeper of keepers)
    shares.push(await sharesOf(subject, keeper, { folder, rounds: quick ? 5 : 15, warmUp: 3 }));
  const sums = shares.map((share) => [...share.values()].reduce((sum, ms) => sum + ms, 0));
  const cell = (at: number, ms: number): string =>
    `${round(ms, 3)} (${round((100 * ms) / (sums[at] ?? 1), 0)} %)`;
  const rows = OWNERS.map((owner) => [owner, ...shares.map((share, at) => cell(at, share.get(owner) ?? 0))]);
  console.log(`\n### ${subject.name}: whose milliseconds a super-step is\n`);
  console.log(table(['', ...keepers], [...rows, ['all', ...sums.map((sum) => String(round(sum, 3)))]]));
}

const named = process.argv.indexOf('--tasks');
const tasks = named === -1 ? null : Number(process.argv[named + 1]);
const subjects = tasks === null ? [pipeline(50), ownGraph(100)] : [pipeline(tasks)];
if (process.argv.includes('--profile')) {
  for (const subject of subjects) await profile(subject);
  rmSync(folder, { recursive: true });
  process.exit();
}

/** Milliseconds that a recorded step takes: `FULL` also waits for the disk. */
async function stepCosts(): Promise<
  readonly { readonly keeper: Keeper; readonly ms: number; readonly cpuMs: number }[]
> {
  const costs = [];
  for (const keeper of ['devs normal', 'devs full'] as const) {
    const more = await recordedStep(100, keeper, { folder, rounds, warmUp: 3 });
    const of = (name: keyof StepTime): number => round(median(more.map((each) => each[name])), 3);
    costs.push({ keeper, ms: of('ms'), cpuMs: of('cpuMs') });
  }
  return costs;
}

const results: Result[] = [];
if (tasks !== null) results.push(await measure(pipeline, tasks));
else {
  results.push(await measure(pipeline, 50), await measure((size) => ownGraph(size), 100));
  results.push(await measure((size) => ownGraph(size, { isRecorded: false }), 100));
}
if (tasks === null && !quick) results.push(await measure(pipeline, LONG_PLAN, LONG_ROUNDS));
const steps = tasks === null ? await stepCosts() : [];
const startUp = tasks === null ? await startUpTimes(folder, quick ? 5 : 15) : [];
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
if (json) console.log(JSON.stringify({ machine, quick, rounds, results, steps, startUp }));
else {
  for (const result of results) report(result);
  const lines = steps.map(({ keeper, ms, cpuMs }) => [keeper, ms, cpuMs]);
  if (lines.length > 0)
    console.log(`\n### A recorded step\n\n${table(['kept by', 'ms', 'of processor'], lines)}`);
  console.log(
    `\n### Start-up\n\n${table(
      ['process', 'ms'],
      startUp.map(({ what, ms }) => [what, ms]),
    )}`,
  );
  console.log(`\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${rounds} rounds`);
}
