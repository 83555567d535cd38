// `pnpm bench:cli [--quick] [--rounds N] [--json] [--help]`: what a verb takes, a whole process from its start to its end, beside
// a Node.js that does nothing. See docs/internals/benchmarks.md.
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, round, table } from '../../core/bench/state/figures.ts';
import { type ProcessCost, Processes } from './start/processCost.ts';
import { waitingProject } from './start/waitingProject.ts';

const HELP = `Usage: pnpm bench:cli [--quick] [--rounds N] [--json]

Runs each verb as a process of its own, in turn with \`node -e 0\`; the ratio is taken within each round. Build first.

  --quick     5 rounds
  --rounds N  @default 25
  --json      one JSON document`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

interface Measured {
  readonly name: string;
  readonly argv: readonly string[];
  /** The project as it is, a copy of it, or an empty folder. @defaultValue the project */
  readonly in?: 'copy' | 'nothing';
  /** Its exit code. @defaultValue 0 */
  readonly ends?: number;
}

const BARE: Measured = { name: 'node -e 0', argv: ['-e', '0'] };

/** A run that waits for a person. */
const WAITS = 75;
/** Up to its first gate, by nobody. */
const RUN = ['-m', 'Export the table as CSV.', '--agents', 'none', '--no-repository'] as const;

/** Each in turn, and the first one is another in each round: what disturbs one disturbs all. */
async function measure(rounds: number): Promise<ReadonlyMap<string, readonly ProcessCost[]>> {
  const project = await waitingProject();
  const processes = new Processes();
  const devs = fileURLToPath(new URL('../dist/bin.js', import.meta.url));
  const verb = (...argv: readonly string[]): Measured => ({
    name: `devs ${argv[0]}`,
    argv: [devs, ...argv],
  });
  const all = [
    BARE,
    verb('--help'),
    verb('status'),
    verb('gates'),
    verb('show', project.run),
    verb('log', project.run),
    { ...verb('approve', project.gate, '--hash', project.hash), in: 'copy' },
    { ...verb('run', ...RUN), in: 'nothing', ends: WAITS },
  ] satisfies readonly Measured[];
  const folderFor = (one: Measured): string => {
    if (one.in === undefined) return project.dir;
    return one.in === 'copy' ? project.copy() : project.empty();
  };
  const first = (pass: number): number => Math.max(pass, 0) % all.length;
  const costs = new Map<string, ProcessCost[]>(all.map(({ name }) => [name, []]));
  try {
    for (let pass = -1; pass < rounds; pass += 1) {
      for (const one of [...all.slice(first(pass)), ...all.slice(0, first(pass))]) {
        const { name, argv, ends }: Measured = one;
        costs.get(name)?.push(processes.cost(argv, folderFor(one), ends));
      }
    }
    for (const of of costs.values()) of.shift(); // it warmed the disk
    return costs;
  } finally {
    processes.remove();
    project.remove();
  }
}

async function report(): Promise<void> {
  const load = round(loadavg()[0] ?? Number.NaN, 1);
  const costs = await measure(values.quick ? 5 : Number(values.rounds ?? 25));
  const bare = costs.get(BARE.name) ?? [];
  const rows = [...costs].map(([name, of]) => {
    const ratio = (what: keyof ProcessCost): number =>
      round(median(of.map((cost, at) => cost[what] / (bare[at]?.[what] ?? Number.NaN))));
    return {
      process: name,
      wallMs: round(median(of.map(({ wallMs }) => wallMs)), 0),
      cpuMs: round(median(of.map(({ cpuMs }) => cpuMs)), 0),
      wallRatio: ratio('wallMs'),
      cpuRatio: ratio('cpuMs'),
    };
  });
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node.js ${process.versions.node}, load ${load} before`;
  if (values.json) {
    console.log(JSON.stringify({ machine, rounds: bare.length, rows }, null, 2));
    return;
  }
  const head = ['process', 'ms', 'ms of processor', 'ratio, ms', 'ratio, processor'];
  console.log(
    table(
      head,
      rows.map((row) => Object.values(row)),
    ),
  );
  console.log(`\n${bare.length} rounds; ${machine}`);
}

if (values.help) console.log(HELP);
else await report();
