// `pnpm bench:growth [--quick] [--json]`: what looking at a run, a gate or a page of a log costs as a state file and a run
// grow with what is not looked at. CPU time, and the exponent by which it grows. See docs/benchmarks.md. Ends with code 1 where a
// target is missed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cpuMs } from './growth/cpuMs.ts';
import { SUBJECTS, type Subject } from './growth/subjects.ts';
import { round, table } from './state/figures.ts';

const HELP = `pnpm bench:growth [--quick] [--json]

  --quick   a tenth of everything
  --json    one document, for programs
  --help    this`;

/** CPU time grows with the size to this power at most, where nothing of what grows is shown. */
const MAX_EXPONENT = 0.2;

const [quick, json] = ['--quick', '--json'].map((flag) => process.argv.includes(flag));
if (process.argv.includes('--help')) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}

interface Grown {
  readonly what: string;
  readonly of: string;
  readonly sizes: readonly number[];
  /** CPU milliseconds for one look, by size. */
  readonly ms: readonly number[];
  readonly exponent: number;
  /** `null` where it is known to grow, and why is said. */
  readonly target: number | null;
  readonly because: string | null;
}

/** Every look of a subject, at each of its sizes. */
async function grow({ of, sizes: whole, open, looks }: Subject): Promise<readonly Grown[]> {
  const sizes = quick ? whole.map((size) => size / 10) : whole;
  const measured: number[][] = looks.map(() => []);
  for (const size of sizes) {
    const dir = mkdtempSync(path.join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-growth-'));
    const opened = await open(dir, size);
    for (const [at, { look }] of looks.entries())
      measured[at]?.push(await cpuMs((turn) => look(opened, turn)));
    opened.close();
    rmSync(dir, { recursive: true, force: true });
  }
  return looks.map(({ what, grows = null }, at) => {
    const ms = (measured[at] ?? []).map((each) => round(each, 4));
    const target = grows === null ? MAX_EXPONENT : null;
    return { what, of, sizes, ms, exponent: exponentOf(sizes, ms), target, because: grows };
  });
}

/** Slope between the ends, both axes logarithmic. */
function exponentOf(sizes: readonly number[], ms: readonly number[]): number {
  const ratio = (of: readonly number[]): number => Math.log((of.at(-1) ?? 1) / (of[0] ?? 1));
  return round(ratio(ms) / ratio(sizes));
}

const grown: Grown[] = [];
for (const subject of SUBJECTS) grown.push(...(await grow(subject)));
const missed = grown.filter(({ exponent, target }) => target !== null && exponent > target);

if (json)
  process.stdout.write(`${JSON.stringify({ grown, missed: missed.map(({ what }) => what) }, null, 2)}\n`);
else {
  for (const { of, sizes } of SUBJECTS) {
    const its = grown.filter((each) => each.of === of);
    const head = [
      'CPU ms',
      ...(its[0]?.sizes ?? sizes).map((size) => size.toLocaleString('en')),
      'exponent',
      '',
    ];
    const rows = its.map(({ what, ms, exponent, because }) => [
      what,
      ...ms.map(String),
      String(exponent),
      because ?? '',
    ]);
    process.stdout.write(`\n${of}\n\n${table(head, rows)}\n`);
  }
  for (const { what, exponent } of missed)
    process.stdout.write(`missed: ${what} grows with exponent ${exponent}; ${MAX_EXPONENT} is allowed\n`);
}
process.exitCode = missed.length === 0 ? 0 : 1;
