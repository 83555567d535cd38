import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { programFile } from '../support/programFile.ts';
import type { DriverAnswer, DriverCommand } from './driverProtocol.ts';

const program = new URL('driver.child.ts', import.meta.url);

/** A process that drives runs of a state file. */
export class Driver {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #stderr = '';

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    if (process.stdout === null) throw new Error('The driver has no stdout.');
    this.#lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  }

  /** Starts a process for the test that runs, with arguments for `node`, and waits until it has loaded. */
  static async start(dbPath: string, nodeArgs: readonly string[] = []): Promise<Driver> {
    const args = [...nodeArgs, programFile(program), dbPath, dirname(dbPath)];
    const driver = new Driver(spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] }));
    onTestFinished(async () => {
      driver.continue();
      await driver.kill();
    });
    await driver.#read();
    return driver;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  tell(command: DriverCommand): void {
    this.#process.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  answer(): Promise<DriverAnswer> {
    return this.#read<DriverAnswer>();
  }

  drive(command: DriverCommand): Promise<DriverAnswer> {
    this.tell(command);
    return this.answer();
  }

  /** kill -9; resolves when the process is gone, also by its own hand. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  /** Stops every thread of the process, as a sleeping laptop does. */
  async stop(): Promise<void> {
    this.#process.kill('SIGSTOP');
    const isStopped = (): boolean => {
      const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')')).startsWith(') T');
    };
    while (!isStopped()) await sleep(2);
  }

  continue(): void {
    this.#process.kill('SIGCONT');
  }

  async #read<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new DriverGone(this.#stderr);
    return JSON.parse(value) as T;
  }
}

/** The process ended before it answered. */
export class DriverGone extends Error {}

/** What test and drivers leave for each other beside a state file. */
export class Desk {
  readonly #dir: string;

  constructor(dbPath: string) {
    this.#dir = dirname(dbPath);
  }

  /** Resolves when the driver of the run stands still. */
  async frozen(id: string): Promise<void> {
    while (!existsSync(join(this.#dir, `frozen-${id}`))) await sleep(2);
  }

  thaw(id: string): void {
    writeFileSync(join(this.#dir, `thaw-${id}`), '');
  }

  /** What nodes did outside, as `what id pid`, oldest first. */
  effects(what: string, id?: string): readonly string[] {
    const log = join(this.#dir, 'effects.log');
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
    return lines.filter((line) => line.startsWith(id === undefined ? `${what} ` : `${what} ${id} `));
  }
}
