import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { programFile } from '../../../core/test/support/programFile.ts';
import { note } from './ledger.ts';

/** How a worker reaches the server, and what it takes the time for. */
export interface WorkerWay {
  /** A pooler before the server of `url`. @defaultValue none */
  readonly pooler?: string;
  /** By which its clock is ahead, ms. @defaultValue 0 */
  readonly skewMs?: number;
}

export interface FleetOptions {
  readonly url: string;
  /** One worker after the other has the next one. @defaultValue as it is */
  readonly ways?: readonly WorkerWay[];
  readonly ledger: string;
  readonly dir: string;
  /** Runs at the same time in one worker. */
  readonly slots: number;
  /** A call takes so long on the average, ms. */
  readonly callMs: number;
  /** What a worker is. @defaultValue one that drives `lifeApp` */
  readonly program?: URL;
  /** Workers that are loaded ahead: one that is killed has a successor at once. @defaultValue none */
  readonly spares?: number;
}

type Child = ReturnType<typeof spawn>;

const LIFE = new URL('worker.child.ts', import.meta.url);
/** Starts of one worker. */
const TRIES = 20;

/** Worker processes, to be killed. They end with this process, however that ends. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #workers = new Set<ChildProcess>();
  /** Those that were frozen. */
  readonly #apart = new Set<ChildProcess>();
  readonly #spares: Child[] = [];
  #spawned = 0;
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

  /** Resolves when the worker takes runs. One that ends before, as PostgreSQL is just starting, is started again. */
  async add(): Promise<ChildProcess> {
    for (let tries = 1; ; tries += 1) {
      const worker = this.#spares.shift() ?? this.#spawn();
      this.#load(this.#options.spares ?? 0);
      worker.stdin?.write('go\n');
      const isReady = new Promise<boolean>((resolve) => {
        worker.stdout?.once('data', () => resolve(true));
        worker.once('exit', () => resolve(false));
      });
      if (await isReady) {
        this.#workers.add(worker);
        worker.once('exit', () => this.#workers.delete(worker));
        return worker;
      }
      if (tries === TRIES) throw new Error(`A worker has not started:\n${this.#errors}`);
    }
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
    const { url, ledger, dir, slots, callMs, program = LIFE, ways = [{}] } = this.#options;
    const file = programFile(program);
    const { pooler = url, skewMs = 0 } = ways[this.#spawned % ways.length] ?? {};
    this.#spawned += 1;
    const given = [pooler, ledger, dir, slots, callMs, url, skewMs].map(String);
    const child = spawn(process.execPath, [file, ...given]);
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
