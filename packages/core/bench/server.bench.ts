// `pnpm bench:server [--quick] [--only short|once|decisions|processes|kept]... [--json]`: what a server does. Short runs of three nodes and a call, beside the
// same graph over the official saver: processor time in turn, runs side by side in a process and on one file, decision to effect,
// memory and bytes per run. Ends with code 1 where a process met an error. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { atOnce, decisions, kept, processes, shortRuns } from './server/measures.ts';
import { STANDS, type StandName } from './server/stands.ts';
import { round, table } from './state/figures.ts';

const PARTS = ['short', 'once', 'decisions', 'processes', 'kept'] as const;
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

/** For each stand and each size, both stands of a size in turn; nothing where it was not asked for. */
async function each<Size, Figures>(
  part: (typeof PARTS)[number],
  sizes: readonly Size[],
  measure: (stand: StandName, size: Size) => Promise<Figures>,
): Promise<readonly Figures[]> {
  if (!given.only.includes(part)) return [];
  const figures: Figures[] = [];
  for (const size of sizes) for (const stand of STANDS) figures.push(await measure(stand, size));
  return figures;
}

const load = [loadavg()[0] ?? Number.NaN];
const [ms, processMs] = isQuick ? [2000, 2000] : [10_000, 8000];
const short = given.only.includes('short') ? await shortRuns(folder, isQuick ? 7 : 25) : null;
const once = await each('once', [1, 10, 100], (stand, side) => atOnce(stand, folder, { side, ms }));
const decided = await each('decisions', [isQuick ? 50 : 500], (stand, count) =>
  decisions(stand, folder, count),
);
const shared = await each('processes', isQuick ? [1, 4] : [1, 2, 4, 8, 16], (stand, count) =>
  processes(stand, folder, { count, ms: processMs }),
);
const stored = await each('kept', [isQuick ? 200 : 5000], (stand, runs) => kept(stand, folder, runs));
load.push(loadavg()[0] ?? Number.NaN);
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
const range = { least: round(Math.min(...load), 1), most: round(Math.max(...load), 1) };
if (given.json) {
  const figures = {
    machine,
    load: range,
    isQuick,
    short,
    once,
    decisions: decided,
    processes: shared,
    kept: stored,
  };
  console.log(JSON.stringify(figures, null, 2));
} else {
  report();
}
const errors = shared.flatMap((figures) => figures.errors);
for (const error of errors) console.error(error);
process.exitCode = errors.length === 0 ? 0 : 1;

function report(): void {
  const print = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): void => {
    if (rows.length > 0) console.log(`${table(head, rows)}\n`);
  };
  if (short !== null) {
    const { cpuMs, cpuRatio, wallRatio } = short;
    print(
      ['a short run', 'devs', 'official', 'ratio in turn'],
      [
        ['processor, ms', cpuMs.devs, cpuMs.official, cpuRatio],
        ['by the clock', '', '', wallRatio],
      ],
    );
  }
  print(
    ['kept by', 'at once', 'runs a second', 'between two turns of the loop, processor p50 ms', 'p99 ms'],
    once.map((it) => [it.stand, it.atOnce, it.runsPerSecond, it.turnP50Ms, it.turnP99Ms]),
  );
  print(
    ['kept by', 'decision to effect, p50 ms', 'p99 ms'],
    decided.map((it) => [it.stand, it.p50Ms, it.p99Ms]),
  );
  print(
    ['kept by', 'processes', 'runs a second'],
    shared.map((it) => [it.stand, it.processes, it.runsPerSecond]),
  );
  print(
    ['kept by', 'runs', 'KB per run', 'heap MB after a fifth', 'after all'],
    stored.map((it) => [it.stand, it.runs, round(it.bytesPerRun / 1024, 1), ...it.heapMb]),
  );
  for (const { stand, tables } of stored)
    print(
      [`bytes of a run, ${stand}`, 'payload', 'pages'],
      Object.entries(tables).map(([name, { payload, pages }]) => [name, payload, pages]),
    );
  console.log(
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load ${range.least} to ${range.most}`,
  );
}
