import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { programFile } from '../../../core/test/support/programFile.ts';
import { linesOf } from './startReference.ts';

const PROGRAM = new URL('../programs/serve.child.ts', import.meta.url);

export interface ServerProcessOptions {
  readonly file: string;
  /** A file with a line for each call of the outside world. */
  readonly world: string;
  /** Of `programs/serve.child.ts`. */
  readonly mode?: readonly string[];
}

/** A server as a process, that may be killed and started again at the same address. */
export class ServerProcess {
  readonly #options: ServerProcessOptions;
  #child: ChildProcess | null = null;
  #port = 0;

  constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What was called outside, over all processes. */
  get calls(): readonly string[] {
    return linesOf(this.#options.world);
  }

  async start(mode: readonly string[] = this.#options.mode ?? []): Promise<void> {
    const { file, world } = this.#options;
    const child = spawn(process.execPath, [programFile(PROGRAM), file, String(this.#port), world, ...mode], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    const [told] = (await once(child.stdout, 'data')) as [Buffer];
    this.#port = (JSON.parse(told.toString()) as { readonly port: number }).port;
  }

  /** Ends it at once, whatever it does. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Until it has ended by itself. */
  async ended(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    await once(child, 'exit');
  }
}
