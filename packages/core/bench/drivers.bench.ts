// `pnpm bench:drivers [--quick] [--json]`: 1 to 16 drivers, each a process, over one state file: super-steps in all, and how long
// one takes. Ends with code 1 where a driver met an error. See docs/internals/benchmarks.md.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '../src/db/createDatabase.ts';
import { median, percentile, round, table } from './state/figures.ts';

const [quick, json] = ['--quick', '--json'].map((flag) => process.argv.includes(flag));
const DRIVERS = [1, 2, 4, 8, 16];
const MS = quick ? 2000 : 10_000;
const PROGRAM = fileURLToPath(new URL('drivers/driver.child.ts', import.meta.url));
const NODE = ['--conditions=@devs/source', '--import', 'tsx'];
const folder = mkdtempSync(join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-drivers-'));

class Driver {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<readonly unknown[]>;
  #said = '';
  #errors = '';

  constructor(file: string, run: string) {
    this.#child = spawn(process.execPath, [...NODE, PROGRAM, file, run, String(MS)]);
    this.#child.stdout.on('data', (chunk) => (this.#said += String(chunk)));
    this.#child.stderr.on('data', (chunk) => (this.#errors += String(chunk)));
    this.#ended = once(this.#child, 'close');
  }

  async ready(): Promise<void> {
    while (!this.#said.startsWith('ready') && this.#child.exitCode === null)
      await Promise.race([once(this.#child.stdout, 'data'), this.#ended]);
  }

  begin(): void {
    this.#child.stdin.end('go\n');
  }

  /** Times of its super-steps, ms; what it met where it failed. */
  async end(): Promise<{ readonly times: readonly number[]; readonly error: string | null }> {
    const [code] = await this.#ended;
    if (code !== 0) return { times: [], error: this.#errors.trim() };
    return { times: JSON.parse(this.#said.slice('ready\n'.length)) as readonly number[], error: null };
  }
}

interface Figures {
  readonly drivers: number;
  /** Super-steps per second of all drivers together. */
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly mostMs: number;
  readonly errors: readonly string[];
}

/** All are ready before the first one begins. */
async function race(drivers: number): Promise<Figures> {
  const file = join(folder, `${drivers}.sqlite`);
  createDatabase({ dbPath: file }).close();
  const all = Array.from({ length: drivers }, (_, at) => new Driver(file, `run-${at}`));
  await Promise.all(all.map((driver) => driver.ready()));
  for (const driver of all) driver.begin();
  const ended = await Promise.all(all.map((driver) => driver.end()));
  const times = ended.flatMap((one) => one.times);
  return {
    drivers,
    perSecond: round(times.length / (MS / 1000), 0),
    medianMs: round(median(times)),
    p95Ms: round(percentile(times, 0.95)),
    mostMs: round(times.reduce((most, ms) => Math.max(most, ms), 0)),
    errors: ended.flatMap(({ error }) => error ?? []),
  };
}

const loads: number[] = [];
const figures: Figures[] = [];
for (const drivers of DRIVERS) {
  loads.push(loadavg()[0] ?? Number.NaN);
  figures.push(await race(drivers));
}
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
const load = { least: round(Math.min(...loads), 1), most: round(Math.max(...loads), 1) };
if (json) console.log(JSON.stringify({ machine, load, seconds: MS / 1000, figures }, null, 2));
else {
  const head = ['drivers', 'super-steps a second, all', 'median ms', 'p95', 'most', 'errors'];
  const rows = figures.map(({ drivers, perSecond, medianMs, p95Ms, mostMs, errors }) => [
    ...[drivers, perSecond, medianMs, p95Ms, mostMs],
    errors.length,
  ]);
  console.log(table(head, rows));
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load ${load.least} to ${load.most}`,
  );
  for (const error of figures.flatMap(({ errors }) => errors)) console.error(error);
}
process.exitCode = figures.every(({ errors }) => errors.length === 0) ? 0 : 1;
