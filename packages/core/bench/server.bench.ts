// `pnpm bench:server [--quick] [--only short|once|decisions|processes|kept]... [--json]`: what a server does. Short runs of three
// nodes and a call, beside the same graph over the official saver, both in turn in every round: processor time, runs side by side in
// a process and on one file, decision to effect, memory and bytes per run. It says on stderr what it is at. Ends with code 1 where
// a process of ours met an error. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { atOnce, decisions, kept, shortRuns } from './server/measures.ts';
import { processes } from './server/processes.ts';
import { STANDS } from './server/stands.ts';
import { round, table } from './state/figures.ts';

const PARTS = ['short', 'once', 'decisions', 'processes', 'kept'] as const;
type Part = (typeof PARTS)[number];
const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [...PARTS] },
  },
});
const unknown = given.only.find((part) => !PARTS.some((known) => known === part));
if (unknown !== undefined) throw new RangeError(`--only: expected ${PARTS.join(', ')}, got ${unknown}.`);
const isQuick = given.quick;
const folder = mkdtempSync(join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-server-'));
const begun = performance.now();

const SIDES = [1, 10, 100];
const COUNTS = isQuick ? [1, 4] : [1, 2, 4, 8, 16];
/** So that each has some hundred decisions. */
const roundsFor = (side: number): number => Math.ceil((isQuick ? 20 : 300) / side);

/** A part, size by size; nothing where it was not asked for. */
async function measured<Size extends string | number, Figures>(
  part: Part,
  sizes: readonly Size[],
  measure: (size: Size) => Promise<Figures>,
): Promise<readonly Figures[]> {
  if (!given.only.includes(part)) return [];
  const figures: Figures[] = [];
  for (const size of sizes) {
    process.stderr.write(
      `${((performance.now() - begun) / 1000).toFixed(0).padStart(4)} s  ${part}: ${size}\n`,
    );
    figures.push(await measure(size));
  }
  return figures;
}

const load = [loadavg()[0] ?? Number.NaN];
const laps = isQuick ? { rounds: 3, ms: 700 } : { rounds: 7, ms: 2500 };
const [short = []] = await measured('short', ['one after the other'], () =>
  shortRuns(folder, isQuick ? 7 : 25),
);
const once = await measured('once', SIDES, (side) => atOnce(folder, side, laps));
const decided = await measured('decisions', SIDES, (side) =>
  decisions(folder, side, { rounds: Math.max(3, roundsFor(side)) }),
);
const shared = await measured('processes', COUNTS, (count) =>
  processes(folder, count, isQuick ? { rounds: 1, ms: 1500 } : { rounds: 3, ms: 4000 }),
);
const stored = await measured('kept', STANDS, (stand) => kept(folder, stand, isQuick ? 200 : 5000));
load.push(loadavg()[0] ?? Number.NaN);
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
const range = { least: round(Math.min(...load), 1), most: round(Math.max(...load), 1) };
if (given.json) {
  const figures = { short, once, decisions: decided, processes: shared, kept: stored };
  console.log(JSON.stringify({ machine, load: range, isQuick, ...figures }, null, 2));
} else {
  report();
}
const errors = shared.flatMap(({ stands }) => stands.devs.errors);
for (const error of errors) console.error(error);
process.exitCode = errors.length === 0 ? 0 : 1;

function print(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  if (rows.length > 0) console.log(`${table(head, rows)}\n`);
}

function report(): void {
  print(
    ['a short run', 'devs, processor ms', 'official', 'ratio', 'ratio by the clock'],
    short.map(({ from, cpuMs, cpuRatio, wallRatio }) => [
      ...[from, cpuMs.devs, cpuMs.official],
      ...[cpuRatio, wallRatio],
    ]),
  );
  print(
    ['runs at once', 'kept by', 'runs a second', 'processor ms a run', 'loop, processor p50 ms', 'p99 ms'],
    once.flatMap(({ atOnce: side, stands, cpuRatio, speedRatio }) => [
      ...STANDS.map((name) => [
        ...[side, name, stands[name].runsPerSecond, stands[name].cpuMs],
        ...[stands[name].turnP50Ms, stands[name].turnP99Ms],
      ]),
      [side, 'ratio', speedRatio, cpuRatio, '', ''],
    ]),
  );
  print(
    ['decided at once', 'kept by', 'decision to effect, p50 ms', 'p99 ms', 'processor ms to the end'],
    decided.flatMap(({ atOnce: side, stands, cpuRatio }) => [
      ...STANDS.map((name) => [side, name, stands[name].p50Ms, stands[name].p99Ms, stands[name].cpuMs]),
      [side, 'ratio', '', '', cpuRatio],
    ]),
  );
  print(
    ['processes', 'kept by', 'runs a second', 'processor ms a run', 'errors'],
    shared.flatMap(({ processes: count, stands, cpuRatio, speedRatio }) => [
      ...STANDS.map((name) => [
        ...[count, name, stands[name].runsPerSecond, stands[name].cpuMs],
        stands[name].errors.length,
      ]),
      [count, 'ratio', speedRatio, cpuRatio, ''],
    ]),
  );
  reportKept();
  console.log(
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load ${range.least} to ${range.most}`,
  );
}

function reportKept(): void {
  print(
    [
      'kept by',
      'runs',
      'KB per run',
      'heap MB after a fifth',
      'after all',
      'RSS MB after a fifth',
      'after all',
    ],
    stored.map((it) => [it.stand, it.runs, round(it.bytesPerRun / 1024, 1), ...it.heapMb, ...it.rssMb]),
  );
  for (const { stand, tables } of stored)
    print(
      [`bytes of a run, ${stand}`, 'payload', 'pages'],
      Object.entries(tables).map(([name, { payload, pages }]) => [name, payload, pages]),
    );
}
