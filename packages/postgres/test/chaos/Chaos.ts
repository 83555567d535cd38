import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../support/query.ts';
import type { PostgresServer } from '../support/startPostgres.ts';
import type { Fleet } from './Fleet.ts';
import { entriesOf, note } from './ledger.ts';
import { isPossible, type LifeApp } from './life.ts';
import { answerAll } from './lifeWorker.ts';

export interface ChaosOptions {
  readonly kills: number;
  /** @defaultValue 3 */
  readonly workers?: number;
  /** Whether the one is killed that has just made a call, at once. @defaultValue any, a moment later */
  readonly aims?: boolean;
  /** Every how many kills a worker is frozen until others have its runs. @defaultValue 25 */
  readonly freezesEvery?: number;
  /** Every how many kills PostgreSQL ends as the power goes out. @defaultValue 50 */
  readonly restartsEvery?: number;
  /** Every how many kills PostgreSQL takes no changes for a while, as a standby. @defaultValue 10 */
  readonly readOnlyEvery?: number;
  readonly onProgress?: (kills: number) => void;
  /** No more kills than there are until then. */
  readonly signal?: AbortSignal;
}

export interface ChaosParts {
  readonly ledger: string;
  readonly server: PostgresServer;
  readonly app: LifeApp;
  readonly fleet: Fleet;
}

/** Nobody makes a call for so long: something is stuck, ms. Longer than the retries of a run are apart. */
const STUCK_MS = 180_000;

/** Starts runs, answers what they ask, and kills who drives them. */
export class Chaos {
  /** Of all runs. */
  readonly ids: string[] = [];
  kills = 0;
  freezes = 0;
  restarts = 0;
  /** Times that PostgreSQL took no changes. */
  readOnly = 0;
  /** States that were read of runs that nobody can have. */
  readonly impossible: string[] = [];
  readonly #options: ChaosOptions & { readonly open: number };
  readonly #parts: ChaosParts;
  readonly #freezing = new Set<Promise<void>>();

  /** @param options - `open`: runs that have not ended, at the same time. */
  constructor(options: ChaosOptions & { readonly open: number }, parts: ChaosParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Resolves when every run has ended, or with those that do not. */
  async run(): Promise<readonly string[]> {
    await this.#fill();
    await Promise.all(Array.from({ length: this.#options.workers ?? 3 }, () => this.#parts.fleet.add()));
    const over = new AbortController();
    const [stuck] = await Promise.all([
      this.#strikeAll().finally(() => over.abort()),
      answerAll(this.#parts.app, over.signal),
    ]);
    await this.#parts.fleet.end('SIGTERM');
    return stuck;
  }

  async #strikeAll(): Promise<readonly string[]> {
    try {
      const { kills, signal } = this.#options;
      while (this.kills < kills && signal?.aborted !== true) await this.#strike();
      await Promise.all(this.#freezing);
      while (!(await this.#hasEnded())) await this.#calls(() => this.#hasEnded(), 100);
      return [];
    } catch (error) {
      if (!(error instanceof Stuck)) throw error;
      const open = await this.#open();
      return open.map(({ id, status }) => `${id} is ${status}, and nobody drives it`);
    }
  }

  /** A few runs wait for a slot. */
  async #fill(): Promise<void> {
    const open = await this.#open();
    const missing = Math.max(0, this.#options.open - open.length);
    const ids = Array.from({ length: missing }, (_, nth) => `life-${this.ids.length + nth}`);
    this.ids.push(...ids);
    await Promise.all(ids.map((id) => this.#parts.app.start(id, { run: id })));
  }

  async #open(): Promise<readonly { readonly id: string; readonly status: string }[]> {
    const status = ['created', 'running', 'waiting', 'paused'] as const;
    return (await this.#parts.app.list({ status, limit: 100 })).runs;
  }

  /** Reads a run that has just been driven, or is. */
  async #look(): Promise<void> {
    const open = await this.#open();
    const run = open[Math.floor(Math.random() * open.length)];
    if (run === undefined) return;
    const calls = (await this.#parts.app.result(run.id)).values?.calls ?? [];
    if (!isPossible(calls)) this.impossible.push(`${run.id} was read with ${calls.join(', ')}`);
  }

  #hasEnded = async (): Promise<boolean> => (await this.#open()).length === 0;

  async #strike(): Promise<void> {
    const { freezesEvery = 25, restartsEvery = 50, readOnlyEvery = 10, aims, onProgress } = this.#options;
    const { fleet } = this.#parts;
    const kill = this.kills + 1;
    await this.#calls();
    if (!aims) await sleep(Math.random() * 60);
    if (kill % freezesEvery === 0) this.#freeze();
    if (kill % restartsEvery === 0) await this.#restart();
    await fleet.kill(aims ? await this.#caller() : this.#victim());
    this.kills = kill;
    const readOnly = kill % readOnlyEvery === 0 ? this.#takeNoChanges() : undefined;
    await Promise.all([fleet.add(), this.#fill(), this.#look(), readOnly]);
    onProgress?.(kill);
  }

  #victim() {
    const { workers, errors } = this.#parts.fleet;
    const victim = workers[Math.floor(Math.random() * workers.length)];
    if (victim === undefined) throw new Error(`No worker is left:\n${errors}`);
    return victim;
  }

  /** Waits until somebody has begun a call. */
  async #caller() {
    for (;;) {
      const last = entriesOf(this.#parts.ledger).findLast(({ is }) => is === 'begun');
      const caller = this.#parts.fleet.workers.find(({ pid }) => last?.is === 'begun' && last.pid === pid);
      if (caller !== undefined) return caller;
      await this.#calls();
    }
  }

  async #restart(): Promise<void> {
    const { ledger, server } = this.#parts;
    note(ledger, { is: 'restarted' });
    await server.restart();
    this.restarts += 1;
  }

  async #takeNoChanges(): Promise<void> {
    const { url } = this.#parts.server;
    const setReadOnly = async (is: boolean): Promise<void> => {
      await query(url, `ALTER SYSTEM SET default_transaction_read_only = ${is}`);
      await query(url, 'SELECT pg_reload_conf()');
    };
    await setReadOnly(true);
    await sleep(500 + Math.random() * 2500);
    await setReadOnly(false);
    this.readOnly += 1;
  }

  /** Waits until somebody makes a call: else nobody drives, and a kill proves nothing. Looks once in so many ms. */
  async #calls(isOver = (): Promise<boolean> => Promise.resolve(false), everyMs = 10): Promise<void> {
    const size = (): number => statSync(this.#parts.ledger).size;
    const [before, from] = [size(), performance.now()];
    while (size() === before && !(await isOver())) {
      if (performance.now() - from > STUCK_MS) throw new Stuck();
      await sleep(everyMs);
    }
  }

  #freeze(): void {
    const frozen = this.#frozen().finally(() => this.#freezing.delete(frozen));
    this.#freezing.add(frozen);
  }

  /** Freezes a worker until it is taken for dead, and lets it go on then beside the one in its place. */
  async #frozen(): Promise<void> {
    const { fleet, server } = this.#parts;
    const worker = this.#victim();
    const sql = 'SELECT 1 FROM devs.workers WHERE pid = $1';
    const isThere = async (): Promise<boolean> => (await query(server.url, sql, [worker.pid])).length > 0;
    const thaw = fleet.freeze(worker);
    await fleet.add();
    while (await isThere().catch(() => true)) await sleep(200);
    thaw();
    this.freezes += 1;
    await sleep(2000);
    await fleet.retire(worker);
  }
}

/** Nothing goes on. */
class Stuck extends Error {}
