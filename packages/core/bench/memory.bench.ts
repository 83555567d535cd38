// `pnpm bench:memory [--quick | --thorough] [--json]`: what runs hold in memory as they get longer and deeper, each
// measurement in a process of its own, beside LangGraph's `MemorySaver` and plain recursion. See docs/internals/benchmarks.md. Ends with code 1
// where a target is missed.
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Keeper, SubjectName } from './memory/subjects.ts';
import { MB, median, round, table } from './state/figures.ts';

const quick = process.argv.includes('--quick');
const json = process.argv.includes('--json');
const thorough = process.argv.includes('--thorough');
const passes = thorough ? 3 : 1;
const child = fileURLToPath(new URL('memory/usage.child.ts', import.meta.url));

/** Held at 4 N super-steps, over held at N. */
const MAX_RATIO = 1.2;
/** Bytes that 200 nested frames may add. */
const MAX_NESTED = 32 * 1024 * 1024;

interface Usage {
  /** heapUsed + external, bytes. */
  readonly held: number;
  readonly rss: number;
}

interface Measured {
  readonly subject: SubjectName;
  readonly keeper: Keeper;
  readonly size: number;
  readonly held: number;
  readonly growth: number;
  readonly rssGrowth: number;
}

function measure(subject: SubjectName, keeper: Keeper, size: number): Measured {
  const runs = Array.from({ length: passes }, () => usageOf(subject, keeper, size));
  const middle = (of: (run: (typeof runs)[number]) => number): number => median(runs.map(of));
  return {
    ...{ subject, keeper, size },
    held: middle(({ after }) => after.held),
    growth: middle(({ before, after }) => after.held - before.held),
    rssGrowth: middle(({ before, after }) => after.rss - before.rss),
  };
}

function usageOf(
  subject: SubjectName,
  keeper: Keeper,
  size: number,
): { readonly before: Usage; readonly after: Usage } {
  const flags = ['--conditions=@devs/source', '--expose-gc', '--no-warnings', '--import', 'tsx'];
  const args = [...flags, child, subject, keeper, String(size)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as ReturnType<typeof usageOf>;
}

const SIZES: { readonly [Name in SubjectName]: readonly number[] } = {
  'long run': quick ? [250, 1000] : [1000, 4000],
  project: quick ? [50, 200] : [250, 1000],
  'nested frames': quick ? [50, 200] : [50, 100, 200, 400],
};
const UNIT = { 'long run': 'super-steps', project: 'tasks', 'nested frames': 'frames' } as const;

const measured = (Object.keys(SIZES) as SubjectName[]).flatMap((subject) =>
  (['devs', 'plain'] as const).flatMap((keeper) =>
    SIZES[subject].map((size) => measure(subject, keeper, size)),
  ),
);

function figureOf(subject: SubjectName, keeper: Keeper, size: number | undefined): Measured {
  const found = measured.find((it) => it.subject === subject && it.keeper === keeper && it.size === size);
  if (found === undefined) throw new RangeError(`${subject} of ${String(size)} was not measured.`);
  return found;
}

/** Held at the largest size, over held at a quarter of it. */
function ratioOf(subject: SubjectName, keeper: Keeper): number {
  const [small, large] = SIZES[subject];
  return round(figureOf(subject, keeper, large).held / figureOf(subject, keeper, small).held);
}

const nested = figureOf('nested frames', 'devs', 200).growth;
const targets = [
  { what: 'long run, 4 N / N', found: ratioOf('long run', 'devs'), allowed: MAX_RATIO },
  { what: 'project, 4 N / N', found: ratioOf('project', 'devs'), allowed: MAX_RATIO },
  { what: '200 nested frames, MB', found: round(nested / MB, 1), allowed: round(MAX_NESTED / MB, 1) },
];

if (json) {
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  console.log(JSON.stringify({ machine, quick, passes, measured, targets }));
} else {
  for (const subject of Object.keys(SIZES) as SubjectName[]) {
    const rows = measured
      .filter((it) => it.subject === subject)
      .map(({ keeper, size, held, growth, rssGrowth }) => [
        keeper,
        size,
        ...[held, growth, rssGrowth].map((bytes) => round(bytes / MB, 1)),
      ]);
    const head = [
      'kept by',
      UNIT[subject],
      'heapUsed + external, MB',
      'growth in the run, MB',
      'RSS growth, MB',
    ];
    console.log(`\n### ${subject}\n\n${table(head, rows)}`);
  }
  console.log(`\nMemorySaver, 4 N / N: ${ratioOf('long run', 'plain')} and ${ratioOf('project', 'plain')}`);
  for (const { what, found, allowed } of targets) console.log(`${what}: ${found}, allowed ${allowed}`);
}
if (targets.some(({ found, allowed }) => found > allowed)) process.exitCode = 1;
