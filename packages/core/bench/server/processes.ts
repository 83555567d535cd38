import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, round } from '../state/figures.ts';
import type { DriverSays } from './driver.child.ts';
import { inTurn, type OfBoth, ofBoth, ratioOf } from './inTurn.ts';
import { openStand, type StandName } from './stands.ts';

/** Processes over one file, each with one short run after the other. */
export interface Processes {
  readonly processes: number;
  readonly stands: OfBoth<{
    /** Of all together. */
    readonly runsPerSecond: number;
    /** Of a run. */
    readonly cpuMs: number;
    /** What processes ended with that did not get to the end. */
    readonly errors: readonly string[];
  }>;
  readonly cpuRatio: number;
  readonly speedRatio: number;
}

const PROGRAM = fileURLToPath(new URL('driver.child.ts', import.meta.url));

/** One process, which is ready before the first of all begins. */
class Driver {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #said = '';
  #errors = '';

  constructor(...args: readonly string[]) {
    const node = ['--conditions=@devs/source', '--import', 'tsx', PROGRAM];
    this.#child = spawn(process.execPath, [...node, ...args]);
    this.#closed = once(this.#child, 'close');
    this.#child.stdout?.on('data', (chunk) => (this.#said += String(chunk)));
    this.#child.stderr?.on('data', (chunk) => (this.#errors += String(chunk)));
  }

  async ready(): Promise<void> {
    const { stdout } = this.#child;
    while (stdout !== null && !this.#said.includes('ready') && this.#child.exitCode === null)
      await Promise.race([once(stdout, 'data'), this.#closed]);
  }

  begin(): void {
    this.#child.stdin?.end('go\n');
  }

  async end(): Promise<DriverSays & { readonly error: string | null }> {
    await this.#closed;
    if (this.#child.exitCode !== 0) return { runs: 0, cpuMs: 0, error: this.#errors.trim().slice(0, 500) };
    return { ...(JSON.parse(this.#said.slice('ready\n'.length)) as DriverSays), error: null };
  }
}

export async function processes(
  folder: string,
  count: number,
  { rounds, ms }: { readonly rounds: number; readonly ms: number },
): Promise<Processes> {
  const fileOf = (name: StandName): string => join(folder, `${name}-processes-${count}.sqlite`);
  ofBoth((name) => openStand(name, fileOf(name), { callMs: 0 }).close());
  const laps = await inTurn(rounds, async (name, nth) => {
    const drivers = Array.from(
      { length: count },
      (_, at) => new Driver(name, fileOf(name), `${nth}-${at}`, String(ms)),
    );
    await Promise.all(drivers.map((driver) => driver.ready()));
    for (const driver of drivers) driver.begin();
    const ended = await Promise.all(drivers.map((driver) => driver.end()));
    const runs = ended.reduce((sum, driver) => sum + driver.runs, 0);
    const cpuMs = ended.reduce((sum, driver) => sum + driver.cpuMs, 0);
    return {
      ...{ perSecond: runs / (ms / 1000), cpuMs: cpuMs / runs },
      errors: ended.flatMap(({ error }) => error ?? []),
    };
  });
  return {
    processes: count,
    stands: ofBoth((name) => ({
      runsPerSecond: round(median(laps.map((lap) => lap[name].perSecond)), 0),
      cpuMs: round(median(laps.map((lap) => lap[name].cpuMs))),
      errors: laps.flatMap((lap) => lap[name].errors),
    })),
    cpuRatio: ratioOf(laps, ({ cpuMs }) => cpuMs),
    speedRatio: ratioOf(laps, ({ perSecond }) => perSecond),
  };
}
