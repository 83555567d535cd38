import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** How a program's process ended. */
export interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  /** What it printed at its end; `undefined` if it did not get there. */
  readonly result: unknown;
  readonly stderr: string;
}

/** One process of `run.child.ts`. */
export class Program {
  /** Settles when the program has loaded, or has ended. */
  readonly ready: Promise<unknown>;
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcess;

  constructor(path: string, options: object) {
    this.#process = spawn(process.execPath, [path, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
    });
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      output.stderr += chunk.toString();
    });
    this.ended = once(this.#process, 'close').then(([code, signal]) => {
      const [, result] = output.stdout.split('\n');
      return { code, signal, stderr: output.stderr, result: result ? JSON.parse(result) : undefined };
    });
    this.ready = Promise.race([once(this.#process.stdout ?? this.#process, 'data'), this.ended]);
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** kill -9: no handler, no flush, no close. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }
}
