// `pnpm bench:wakes [--quick] [--json]`: from a decision to the node behind it, in a driver that waits: decided by its own
// process and by another one, woken and by the clock alone, in turn. See docs/internals/benchmarks.md.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from 'better-sqlite3';
import { createDatabase } from '../src/db/createDatabase.ts';
import { UNWATCHED } from '../test/support/unwatched.ts';
import { median, percentile, round, table } from './state/figures.ts';
import { answerOpen, openQuestion } from './wakes/answerOpen.ts';
import { queuedNs } from './wakes/queuedNs.ts';

const rounds = process.argv.includes('--quick') ? 10 : 100;
const json = process.argv.includes('--json');
const WARM_UP = 3;
/** A decision comes at any moment of the half second between two looks by the clock, ms. */
const LOOK_EVERY_MS = 500;
const PROGRAM = fileURLToPath(new URL('wakes/waiter.child.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'devs-wakes-'));

/** ms, from when the decision was on disk. */
interface Times {
  readonly all: number;
  /** Without what the driver had to wait for a processor that others had. */
  readonly own: number;
}

class Contender {
  readonly name: string;
  readonly times: Times[] = [];
  readonly #decidesItself: boolean;
  readonly #db: Database;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string, { isWoken, decidesItself }: { isWoken: boolean; decidesItself: boolean }) {
    this.name = name;
    this.#decidesItself = decidesItself;
    const own = mkdtempSync(join(folder, 'file-'));
    const file = join(own, 'state.sqlite');
    symlinkSync(own, `${own}-again`);
    const names = isWoken ? [file] : [file, join(`${own}-again`, 'state.sqlite')];
    this.#db = createDatabase({ dbPath: file });
    const node = ['--conditions=@devs/source', '--import', 'tsx', ...(isWoken ? [] : UNWATCHED)];
    this.#child = spawn(process.execPath, [...node, PROGRAM, ...names]);
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async round(isMeasured: boolean): Promise<void> {
    while (openQuestion(this.#db, 'r') === undefined) await sleep(20);
    await sleep(Math.random() * LOOK_EVERY_MS);
    const decided = await this.#decide();
    const [, arrived = '', queued = ''] = (await this.#line()).split(' ');
    const all = BigInt(arrived) - decided.after;
    const own = all - (BigInt(queued) - decided.queued);
    if (isMeasured) this.times.push({ all: Number(all) / 1e6, own: Number(own) / 1e6 });
  }

  async #decide(): Promise<{ readonly after: bigint; readonly queued: bigint }> {
    if (!this.#decidesItself) {
      const { after } = answerOpen(this.#db, 'r');
      return { after, queued: queuedNs(this.#child.pid) };
    }
    this.#child.stdin.write('decide\n');
    const [, , after = '', queued = ''] = (await this.#line()).split(' ');
    return { after: BigInt(after), queued: BigInt(queued) };
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`${this.name}: the driver has ended.`);
    return value;
  }

  end(): void {
    this.#child.kill('SIGKILL');
    this.#db.close();
  }
}

const contenders = [
  new Contender('one process, woken', { isWoken: true, decidesItself: true }),
  new Contender('one process, by the clock', { isWoken: false, decidesItself: true }),
  new Contender('two processes, woken', { isWoken: true, decidesItself: false }),
  new Contender('two processes, by the clock', { isWoken: false, decidesItself: false }),
];
const loads: number[] = [];
for (let at = 0; at < WARM_UP + rounds; at += 1) {
  loads.push(loadavg()[0] ?? Number.NaN);
  for (let turn = 0; turn < contenders.length; turn += 1) {
    await contenders[(at + turn) % contenders.length]?.round(at >= WARM_UP);
  }
}
for (const contender of contenders) contender.end();
rmSync(folder, { recursive: true });

const ofAll = (times: readonly number[]) => ({
  median: round(median(times), 1),
  p95: round(percentile(times, 0.95), 1),
  most: round(Math.max(...times), 1),
});
const figures = contenders.map(({ name, times }) => ({
  name,
  allMs: ofAll(times.map(({ all }) => all)),
  ownMs: ofAll(times.map(({ own }) => own)),
}));
const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
const load = { least: round(Math.min(...loads), 1), most: round(Math.max(...loads), 1) };
if (json) console.log(JSON.stringify({ machine, load, rounds, figures }));
else {
  const rows = figures.map(({ name, allMs, ownMs }) => [
    name,
    ...[ownMs, allMs].flatMap(({ median: half, p95, most }) => [half, p95, most]),
  ]);
  const heads = ['median', 'p95', 'most', 'with the queue: median', 'p95', 'most'];
  console.log(table(['a driver that waits', ...heads], rows));
  console.log(
    `\nms. ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${rounds} rounds, load ${load.least} to ${load.most}`,
  );
}
