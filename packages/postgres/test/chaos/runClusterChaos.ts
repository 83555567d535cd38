import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { doctor } from '@devs/core/state';
import type { PostgresRuns } from '../../src/PostgresRuns.ts';
import { postgres } from '../../src/postgres.ts';
import { query } from '../support/query.ts';
import { type PostgresServer, startPostgres } from '../support/startPostgres.ts';
import { Fleet } from './Fleet.ts';
import { type Ended, judge, type Verdict } from './judge.ts';
import { entriesOf, note } from './ledger.ts';
import { CALLS, type LifeApp, lifeApp } from './life.ts';

export interface ClusterChaosOptions {
  readonly kills: number;
  /** @defaultValue 3 */
  readonly workers?: number;
  /** Of a worker: runs at the same time. @defaultValue 4 */
  readonly slots?: number;
  /** Every how many kills a worker is frozen until others have its runs. @defaultValue 25 */
  readonly freezesEvery?: number;
  /** Every how many kills PostgreSQL ends as the power goes out. @defaultValue 50 */
  readonly restartsEvery?: number;
  readonly onProgress?: (kills: number) => void;
}

export interface ClusterChaosReport extends Verdict {
  readonly kills: number;
  readonly freezes: number;
  readonly restarts: number;
  readonly runs: number;
}

const ADA = { kind: 'human', id: 'ada' } as const;

/** Kills workers while they drive runs, and judges what has become of these. */
export async function runClusterChaos(options: ClusterChaosOptions): Promise<ClusterChaosReport> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-cluster-'));
  writeFileSync(join(dir, 'ledger'), '');
  const server = await startPostgres({ isOwn: true });
  const runs = postgres({ url: server.url, dir });
  const fleet = new Fleet({
    ...{ url: server.url, dir, ledger: join(dir, 'ledger'), callMs: 10 },
    slots: options.slots ?? 4,
  });
  try {
    return await new Chaos(options, { dir, server, runs, fleet }).run();
  } finally {
    await fleet.end();
    await runs.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

interface ChaosParts {
  readonly dir: string;
  readonly server: PostgresServer;
  readonly runs: PostgresRuns;
  readonly fleet: Fleet;
}

class Chaos {
  readonly #options: ClusterChaosOptions;
  readonly #parts: ChaosParts;
  readonly #app: LifeApp;
  readonly #ids: string[] = [];
  #ended = new Set<string>();
  #freezes: Promise<void>[] = [];
  #restarts = 0;
  #isOver = false;

  constructor(options: ClusterChaosOptions, parts: ChaosParts) {
    this.#options = options;
    this.#parts = parts;
    this.#app = lifeApp(parts.runs, () => Promise.reject(new Error('This process makes no calls.')));
  }

  async run(): Promise<ClusterChaosReport> {
    const { kills, workers = 3 } = this.#options;
    await this.#fill();
    await Promise.all(Array.from({ length: workers }, () => this.#parts.fleet.add()));
    await Promise.all([this.#answer(), this.#strikeAll(kills).finally(() => (this.#isOver = true))]);
    await this.#parts.fleet.retire();
    return this.#report();
  }

  async #strikeAll(kills: number): Promise<void> {
    for (let kill = 1; kill <= kills; kill += 1) await this.#strike(kill);
    await Promise.all(this.#freezes);
    while (this.#ended.size < this.#ids.length) await this.#look();
  }

  /** As many runs as there are slots, and a few that wait for one. */
  async #fill(): Promise<void> {
    const { workers = 3, slots = 4 } = this.#options;
    while (this.#ids.length - this.#ended.size < workers * slots + 2) {
      const id = `life-${this.#ids.length}`;
      this.#ids.push(id);
      await this.#app.start(id, { run: id });
    }
  }

  async #strike(kill: number): Promise<void> {
    const { freezesEvery = 25, restartsEvery = 50, onProgress } = this.#options;
    const { fleet, server, dir } = this.#parts;
    await this.#calls();
    await sleep(Math.random() * 60);
    const victims = fleet.workers;
    const victim = victims[Math.floor(Math.random() * victims.length)];
    if (victim === undefined) throw new Error(`No worker is left:\n${fleet.errors}`);
    if (kill % freezesEvery === 0) {
      this.#freezes.push(this.#freeze());
    }
    if (kill % restartsEvery === 0) {
      note(join(dir, 'ledger'), { is: 'restarted' });
      this.#restarts += 1;
      await server.restart();
    }
    await fleet.kill(victim);
    await fleet.add();
    await this.#look();
    await this.#fill();
    onProgress?.(kill);
  }

  /** Waits until somebody makes a call: else nobody drives, and a kill proves nothing. */
  async #calls(): Promise<void> {
    const size = (): number => statSync(join(this.#parts.dir, 'ledger')).size;
    const before = size();
    while (size() === before) await sleep(5);
  }

  /** Freezes one more worker until it is taken for dead, and lets it go on then. */
  async #freeze(): Promise<void> {
    const { fleet, server } = this.#parts;
    const worker = await fleet.add();
    const isThere = async (): Promise<boolean> =>
      (await query(server.url, 'SELECT 1 FROM devs.workers WHERE pid = $1', [worker.pid])).length > 0;
    await this.#calls();
    const thaw = fleet.freeze(worker);
    while (await isThere().catch(() => true)) await sleep(200);
    await this.#calls();
    thaw();
  }

  /** Answers every question that is asked. */
  async #answer(): Promise<void> {
    while (!this.#isOver) {
      const { gates } = await this.#app.openGates({ limit: 50 });
      for (const gate of gates) await this.#app.decide(gate, { value: 'yes', by: ADA });
      await sleep(20);
    }
  }

  async #look(): Promise<void> {
    await sleep(20);
    const { runs } = await this.#app.list({ status: 'completed', limit: 200 });
    for (const { id } of runs) this.#ended.add(id);
  }

  async #report(): Promise<ClusterChaosReport> {
    const ended: Ended[] = [];
    const damages: string[] = [];
    for (const id of this.#ids) {
      const { status, values } = await this.#app.result(id);
      ended.push({ run: id, status, calls: values?.calls ?? [] });
      damages.push(...(await this.#damagesOf(id)));
    }
    const verdict = judge(entriesOf(join(this.#parts.dir, 'ledger')), ended, CALLS);
    return {
      ...verdict,
      violations: [...verdict.violations, ...damages],
      kills: this.#options.kills,
      freezes: this.#freezes.length,
      restarts: this.#restarts,
      runs: this.#ids.length,
    };
  }

  async #damagesOf(id: string): Promise<readonly string[]> {
    const looked = await this.#parts.runs.look(id);
    try {
      const { ok, findings } = doctor(looked.db);
      return ok ? [] : [`${id}: ${JSON.stringify(findings)}`];
    } finally {
      looked.close();
    }
  }
}
