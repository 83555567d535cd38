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
  /** Workers that are loaded ahead: one that is killed has a successor at once. @defaultValue none */
  readonly spares?: number;
}

type Child = ReturnType<typeof spawn>;

/** Worker processes, to be killed. They end with this process, however that ends. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #workers = new Set<ChildProcess>();
  /** Those that were frozen. */
  readonly #apart = new Set<ChildProcess>();
  readonly #spares: Child[] = [];
  #errors = '';

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#load(options.spares ?? 0);
  }

  /** Those that take runs. */
  get workers(): readonly ChildProcess[] {
    return [...this.#workers];
  }

  /** What they have said on stderr. */
  get errors(): string {
    return this.#errors;
  }

  /** Resolves when the worker takes runs. */
  async add(): Promise<ChildProcess> {
    const worker = this.#spares.shift() ?? this.#spawn();
    this.#load(this.#options.spares ?? 0);
    worker.stdin?.write('go\n');
    const gone = once(worker, 'exit').then(() => {
      throw new Error(`A worker has not started:\n${this.#errors}`);
    });
    await Promise.race([once(worker.stdout as NodeJS.ReadableStream, 'data'), gone]);
    gone.catch(() => undefined);
    this.#workers.add(worker);
    worker.once('exit', () => this.#workers.delete(worker));
    return worker;
  }

  async kill(worker: ChildProcess): Promise<void> {
    note(this.#options.ledger, { is: 'killed', pid: worker.pid ?? 0 });
    await this.#end(worker, 'SIGKILL');
  }

  /** Stops every thread of it, as where a machine sleeps, until the returned function is called. It is none of {@link workers} any more. */
  freeze(worker: ChildProcess): () => void {
    const pid = worker.pid ?? 0;
    this.#workers.delete(worker);
    this.#apart.add(worker);
    worker.once('exit', () => this.#apart.delete(worker));
    note(this.#options.ledger, { is: 'frozen', pid });
    worker.kill('SIGSTOP');
    return () => {
      note(this.#options.ledger, { is: 'thawed', pid });
      worker.kill('SIGCONT');
    };
  }

  /** Lets one finish what it does: whoever has lost a run says so. */
  retire(worker: ChildProcess): Promise<void> {
    return this.#end(worker, 'SIGTERM');
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const spares = this.#spares.splice(0).map((spare) => this.#end(spare, 'SIGKILL'));
    const workers = [...this.#workers, ...this.#apart].map((worker) => this.#end(worker, signal));
    await Promise.all([...spares, ...workers]);
  }

  #load(wanted: number): void {
    while (this.#spares.length < wanted) this.#spares.push(this.#spawn());
  }

  #spawn(): Child {
    const { url, ledger, dir, slots, callMs } = this.#options;
    const program = programFile(new URL('worker.child.ts', import.meta.url));
    const child = spawn(process.execPath, [program, url, ledger, dir, String(slots), String(callMs)]);
    child.stderr.on('data', (bytes: Buffer) => {
      this.#errors += bytes.toString();
    });
    child.stdin.on('error', () => undefined); // it was killed before it was told
    return child;
  }

  async #end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}
