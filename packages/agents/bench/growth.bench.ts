// `pnpm bench:growth [--quick] [--only NAME]... [--json]`: what looking at a run, a gate, a page of a log or a change in a
// repository costs as what is not looked at grows. CPU time, and the exponent by which it grows. See docs/internals/benchmarks.md. Ends with
// code 1 where a target is missed.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { cpuMs } from '../../core/bench/growth/cpuMs.ts';
import { largePlan, longRun, manyRuns, type Subject } from '../../core/bench/growth/subjects.ts';
import type { Grown } from '../../core/bench/plot/pictures.ts';
import { round, table } from '../../core/bench/state/figures.ts';
import { longHistory, manyFiles } from './repository.ts';

const HELP = `pnpm bench:growth [--quick] [--only NAME]... [--json]

  --quick      a tenth of everything
  --only NAME  runs, events, tasks, files, history
  --json       one document, for programs
  --help       this`;

/** CPU time grows with the size to this power at most, where nothing of what grows is shown. */
const MAX_EXPONENT = 0.2;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Explained extends Grown {
  /** Why it grows, where it is known to. */
  readonly because: string | null;
}

/** Every look of a subject, at each of its sizes. */
async function grow<Kept extends { readonly close: () => void }>(
  subject: Subject<Kept>,
): Promise<readonly Explained[]> {
  const { name, of, looks, open, cost = cpuMs } = subject;
  if (values.only !== undefined && !values.only.includes(name)) return [];
  const sizes = values.quick ? subject.sizes.map((size) => size / 10) : subject.sizes;
  const measured: number[][] = looks.map(() => []);
  for (const size of sizes) {
    const dir = mkdtempSync(path.join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-growth-'));
    const opened = await open(dir, size);
    for (const [at, { look }] of looks.entries())
      measured[at]?.push(await cost((turn) => look(opened, turn)));
    opened.close();
    rmSync(dir, { recursive: true, force: true });
  }
  return looks.map(({ what, grows = null }, at) => {
    const ms = (measured[at] ?? []).map((each) => round(each, 4));
    const target = grows === null ? MAX_EXPONENT : null;
    return { subject: name, what, of, sizes, ms, exponent: exponentOf(sizes, ms), target, because: grows };
  });
}

/** Slope between the ends, both axes logarithmic. */
function exponentOf(sizes: readonly number[], ms: readonly number[]): number {
  const ratio = (of: readonly number[]): number => Math.log((of.at(-1) ?? 1) / (of[0] ?? 1));
  return round(ratio(ms) / ratio(sizes));
}

function report(its: readonly Explained[]): void {
  const [first] = its;
  if (first === undefined) return;
  const head = ['CPU ms', ...first.sizes.map((size) => size.toLocaleString('en')), 'exponent', 'why'];
  const rows = its.map(({ what, ms, exponent, because }) => [
    what,
    ...ms.map(String),
    String(exponent),
    because ?? '',
  ]);
  console.log(`\n${first.of}\n\n${table(head, rows)}`);
}

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  const loads = [loadavg()[0] ?? Number.NaN];
  const subjects = [
    () => grow(manyRuns),
    () => grow(longRun),
    () => grow(largePlan),
    () => grow(manyFiles),
    () => grow(longHistory),
  ];
  const grown: (readonly Explained[])[] = [];
  for (const subject of subjects) {
    grown.push(await subject());
    loads.push(loadavg()[0] ?? Number.NaN);
  }
  const missed = grown.flat().filter(({ exponent, target }) => target !== null && exponent > target);
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  const load = { least: round(Math.min(...loads), 1), most: round(Math.max(...loads), 1) };
  if (values.json)
    console.log(
      JSON.stringify({ machine, load, grown: grown.flat(), missed: missed.map(({ what }) => what) }, null, 2),
    );
  else {
    grown.forEach(report);
    console.log(
      `\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load ${load.least} to ${load.most}`,
    );
    for (const { what, exponent } of missed)
      console.log(`missed: ${what} grows with exponent ${exponent}; ${MAX_EXPONENT} is allowed`);
  }
  process.exitCode = missed.length === 0 ? 0 : 1;
}

await main();
