import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { programFile } from '../../../core/test/support/programFile.ts';
import { linesOf } from './startReference.ts';

const PROGRAM = new URL('../programs/serve.child.ts', import.meta.url);

export interface ServerProcessOptions {
  /** The state file, or the URL of a PostgreSQL. */
  readonly state: string;
  /** @defaultValue 'both' */
  readonly role?: 'both' | 'server' | 'worker';
  /** A file with a line for each call of the outside world. */
  readonly world: string;
  /** What the program does as well. @defaultValue [] */
  readonly mode?: readonly string[];
  /** The port that clients see, where they ask through another one. @defaultValue its own */
  readonly seenAs?: number;
}

/** A server or a worker as a process, that may be killed and started again at the same address. */
export class ServerProcess {
  readonly #options: ServerProcessOptions;
  #child: ChildProcess | null = null;
  #port = 0;

  constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What was called outside, over all processes. */
  get calls(): readonly string[] {
    return linesOf(this.#options.world);
  }

  async start(mode: readonly string[] = this.#options.mode ?? []): Promise<void> {
    const { state, role = 'both', world, seenAs } = this.#options;
    const args = [state, role, String(this.#port), world, ...mode];
    const env = seenAs === undefined ? process.env : { ...process.env, DEVS_TEST_HOST_PORT: String(seenAs) };
    const child = spawn(process.execPath, [programFile(PROGRAM), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    });
    this.#child = child;
    const [told] = (await once(child.stdout, 'data')) as [Buffer];
    this.#port = (JSON.parse(told.toString()) as { readonly port: number }).port;
  }

  /** Ends it at once, whatever it does. */
  async kill(): Promise<void> {
    const child = this.#running();
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Until it has ended by itself. */
  async ended(): Promise<void> {
    const child = this.#running();
    if (child !== null) await once(child, 'exit');
  }

  #running(): ChildProcess | null {
    const child = this.#child;
    return child === null || child.exitCode !== null || child.signalCode !== null ? null : child;
  }
}
