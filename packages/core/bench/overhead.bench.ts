// `pnpm bench:overhead [--quick] [--json]`: what the engine costs per super-step, beside plain LangGraph over its own
// savers, interleaved in one process. See docs/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { countCommits } from './overhead/countCommits.ts';
import { type Lap, race } from './overhead/race.ts';
import { startUpTimes } from './overhead/startUpTimes.ts';
import { KEEPERS, type Keeper, ownGraph, pipeline, type Subject } from './overhead/subjects.ts';
import { median, percentile, round, table } from './state/figures.ts';

const quick = process.argv.includes('--quick');
const json = process.argv.includes('--json');
const rounds = quick ? 5 : 25;
const folder = mkdtempSync(join(tmpdir(), 'devs-bench-'));

const PAIRS: readonly (readonly [Keeper, Keeper])[] = [
  ['devs normal', 'official normal'],
  ['devs full', 'official full'],
  ['devs normal', 'memory'],
];

interface Result {
  readonly subject: string;
  readonly keepers: readonly { readonly keeper: Keeper; readonly stepMs: number; readonly commits: number }[];
  readonly ratios: readonly {
    readonly pair: string;
    readonly median: number;
    readonly quarter: number;
    readonly threeQuarters: number;
  }[];
}

async function measure(make: (size: number) => Subject, size: number): Promise<Result> {
  const subject = make(size);
  const lap = await race(subject, { folder, rounds, warmUp: 3 });
  const keepers = [];
  for (const keeper of KEEPERS) {
    const stepMs = round(median(lap.get(keeper) ?? []), 3);
    keepers.push({ keeper, stepMs, commits: await commitsPerStep(make, size, keeper) });
  }
  return { subject: subject.name, keepers, ratios: PAIRS.map((pair) => ratioOf(lap, pair)) };
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

/** The ratio of each round is taken on its own: both ran in the same second. */
function ratioOf(lap: Lap, [ours, theirs]: readonly [Keeper, Keeper]): Result['ratios'][number] {
  const reference = lap.get(theirs) ?? [];
  const ratios = (lap.get(ours) ?? []).map((ms, at) => ms / (reference[at] ?? Number.NaN));
  return {
    pair: `${ours} / ${theirs}`,
    median: round(median(ratios)),
    quarter: round(percentile(ratios, 0.25)),
    threeQuarters: round(percentile(ratios, 0.75)),
  };
}

function report({ subject, keepers, ratios }: Result): void {
  console.log(`\n### ${subject}\n`);
  const rows = keepers.map(({ keeper, stepMs, commits }) => [
    keeper,
    stepMs,
    keeper === 'memory' ? '–' : commits,
  ]);
  console.log(table(['kept by', 'ms per super-step', 'commits per super-step'], rows));
  const lines = ratios.map((it) => [it.pair, it.median, `${it.quarter}–${it.threeQuarters}`]);
  console.log(`\n${table(['pair', 'median ratio', 'middle half'], lines)}`);
}

const results: Result[] = [];
results.push(await measure(pipeline, 50), await measure(ownGraph, 100));
const startUp = await startUpTimes(folder, quick ? 5 : 15);
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
if (json) console.log(JSON.stringify({ machine, quick, rounds, results, startUp }));
else {
  for (const result of results) report(result);
  console.log(
    `\n### Start-up\n\n${table(
      ['process', 'ms'],
      startUp.map(({ what, ms }) => [what, ms]),
    )}`,
  );
  console.log(`\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${rounds} rounds`);
}
