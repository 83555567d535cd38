import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { programFile } from '../../../core/test/support/programFile.ts';
import { note } from './ledger.ts';

export interface FleetOptions {
  readonly url: string;
  readonly ledger: string;
  readonly dir: string;
  /** Runs at the same time in one worker. */
  readonly slots: number;
  /** A call takes so long on the average, ms. */
  readonly callMs: number;
}

/** Worker processes, to be killed. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #workers = new Set<ChildProcess>();
  #errors = '';

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** Those that run. */
  get workers(): readonly ChildProcess[] {
    return [...this.#workers];
  }

  /** What they have said on stderr. */
  get errors(): string {
    return this.#errors;
  }

  /** Resolves when the worker takes runs. */
  async add(): Promise<ChildProcess> {
    const { url, ledger, dir, slots, callMs } = this.#options;
    const program = programFile(new URL('worker.child.ts', import.meta.url));
    const worker = spawn(process.execPath, [program, url, ledger, dir, String(slots), String(callMs)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#workers.add(worker);
    worker.once('exit', () => this.#workers.delete(worker));
    worker.stderr.on('data', (bytes: Buffer) => {
      this.#errors += bytes.toString();
    });
    await Promise.race([once(worker.stdout, 'data'), once(worker, 'exit')]);
    return worker;
  }

  async kill(worker: ChildProcess): Promise<void> {
    note(this.#options.ledger, { is: 'killed', pid: worker.pid ?? 0 });
    const gone = once(worker, 'exit');
    worker.kill('SIGKILL');
    await gone;
  }

  /** Stops every thread of it, as where a machine sleeps, until the returned function is called. */
  freeze(worker: ChildProcess): () => void {
    const pid = worker.pid ?? 0;
    note(this.#options.ledger, { is: 'frozen', pid });
    worker.kill('SIGSTOP');
    return () => {
      note(this.#options.ledger, { is: 'thawed', pid });
      worker.kill('SIGCONT');
    };
  }

  /** Lets each finish what it does: whoever has lost a run says so. */
  retire(): Promise<void> {
    return this.#endAll('SIGTERM');
  }

  end(): Promise<void> {
    return this.#endAll('SIGKILL');
  }

  async #endAll(signal: NodeJS.Signals): Promise<void> {
    await Promise.all(
      this.workers.map(async (worker) => {
        const gone = once(worker, 'exit');
        worker.kill(signal);
        await gone;
      }),
    );
  }
}
