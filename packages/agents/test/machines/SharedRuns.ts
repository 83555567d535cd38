import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DevsError, type Orchestrator, type Runs } from '@devs/core';
import { createDatabase } from '@devs/core/state';
import { MemoryRuns } from '@devs/core/testing';

type RunDriver = Awaited<ReturnType<Orchestrator['driver']>>;
type RunSignal = LookedAtRun['signals'][number];
type RunPage = Awaited<ReturnType<Runs['list']>>;
type RunIndex = NewRunFile['index'];
type NewRunFile = Parameters<Runs['create']>[0];
type LookedAtRun = Awaited<ReturnType<Runs['open']>>;
type HeldRunEnd = Parameters<HeldRun['settle']>[0];
type HeldRun = Awaited<ReturnType<Runs['hold']>>;
type GatePage = Awaited<ReturnType<Runs['gates']>>;

interface Kept {
  readonly createdAt: number;
  image: Uint8Array;
  index: RunIndex;
  epoch: number;
  /** Who holds it; `null` for nobody. */
  held: AbortController | null;
  /** Not taken yet. */
  told: readonly RunSignal[];
  tell: () => void;
  /** Of what it was told, all in all. */
  seq: number;
  isDue: boolean;
}

/** Runs as machines share them: the last image that arrived, an epoch, and what was told. No machine sees another's files. */
export class SharedRuns implements Runs {
  readonly #dir: string;
  /** For the members that these tests leave alone. */
  readonly #others = new MemoryRuns();
  readonly #runs = new Map<string, Kept>();
  #copies = 0;

  /** @param dir - For working copies. */
  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true });
  }

  get webhooks(): Runs['webhooks'] {
    return this.#others.webhooks;
  }

  get schedules(): Runs['schedules'] {
    return this.#others.schedules;
  }

  async create({ id, file, index }: NewRunFile): Promise<boolean> {
    if (this.#runs.has(id)) return false;
    const told = { told: [], tell: () => {}, seq: 0, isDue: true };
    this.#runs.set(id, { createdAt: this.#runs.size, image: file, index, epoch: 0, held: null, ...told });
    return true;
  }

  async open(id: string): Promise<LookedAtRun> {
    const run = this.#require(id);
    const { seq } = run;
    const db = this.#open(run.image);
    const tell = async (signal: RunSignal): Promise<boolean> => {
      if (run.seq !== seq) return false;
      run.told = [...run.told, signal];
      run.seq += 1;
      run.isDue = true;
      run.tell();
      return true;
    };
    return {
      db,
      isCopy: true,
      signals: run.told,
      isDriven: run.held !== null,
      at: '',
      tell,
      close: () => db.close(),
    };
  }

  reopen(id: string): Promise<LookedAtRun> {
    return this.open(id);
  }

  async watch(_id: string | null, tell: () => void): Promise<() => void> {
    const looks = setInterval(tell, 25);
    return () => clearInterval(looks);
  }

  /** Takes it from whoever has it, as if that had died. */
  async hold(id: string): Promise<HeldRun> {
    const run = this.#require(id);
    run.held?.abort();
    run.epoch += 1;
    const { epoch } = run;
    const mine = new AbortController();
    run.held = mine;
    const db = this.#open(run.image);
    const changes = db.prepare<[], number>('SELECT total_changes()').pluck();
    let arrivedAt = 0;
    let taken: readonly RunSignal[] = [];
    const arrived = (): Promise<void> | null => {
      if (run.epoch !== epoch) return Promise.reject(lost(id));
      run.told = run.told.filter((signal) => !taken.includes(signal));
      const at = changes.get() ?? 0;
      if (at === arrivedAt) return null;
      arrivedAt = at;
      run.image = db.serialize();
      return null;
    };
    const settle = async ({ until, ...index }: HeldRunEnd): Promise<'settled' | 'again'> => {
      await arrived();
      if (run.told.length > 0) return 'again';
      run.index = index;
      run.isDue = until !== null && until <= Date.now();
      run.held = null;
      return 'settled';
    };
    return {
      ...{
        id,
        epoch,
        db,
        isCopy: true,
        outlet: { pending: arrived, leaving: arrived, keepsUp: arrived },
        lost: mine.signal,
        settle,
      },
      signals: async () => {
        taken = run.told;
        return taken;
      },
      onSignal: (tell) => {
        run.tell = tell;
        return () => {
          run.tell = () => {};
        };
      },
      remove: async () => this.#runs.delete(id),
      close: async () => void db.close(),
    };
  }

  async list(): Promise<RunPage> {
    const runs = [...this.#runs].map(([id, { index, held, isDue }]) => ({
      ...{ id, status: index.status, reason: index.reason, graph: '', isDriven: held !== null, isDue },
      ...{ createdAt: '', updatedAt: '', endedAt: null, metadata: index.metadata, tags: index.tags },
    }));
    return { runs: runs.toReversed(), next: null };
  }

  async get(wanted: string): ReturnType<Runs['get']> {
    return (await this.list()).runs.find(({ id }) => id === wanted) ?? null;
  }

  async updateMetadata(id: string): ReturnType<Runs['updateMetadata']> {
    throw new Error(`The metadata of run "${id}" is not kept here.`);
  }

  async indexed(ids: readonly string[]): ReturnType<Runs['indexed']> {
    const known = ids.filter((id) => this.#runs.has(id));
    return new Map(known.map((id) => [id, { createdAt: this.#require(id).createdAt, index: null }]));
  }

  async countGates(): Promise<number> {
    return (await this.gates()).gates.length;
  }

  async numbers(): ReturnType<Runs['numbers']> {
    return { runs: [], gates: [] };
  }

  async gates(): Promise<GatePage> {
    return { gates: [...this.#runs.values()].flatMap(({ index }) => index.gates), next: null };
  }

  async gateEvents(): Promise<readonly never[]> {
    return [];
  }

  async runOfGate(sessionId: string): Promise<string | null> {
    const runs = [...this.#runs];
    const [id] = runs.find(([, { index }]) => index.gates.some((gate) => gate.sessionId === sessionId)) ?? [];
    return id ?? null;
  }

  async close(): Promise<void> {}

  /** What a worker does: takes a run that is due and drives it as far as it goes. False where none is. */
  async work(driver: RunDriver): Promise<boolean> {
    const [id, run] = [...this.#runs].find(([, { isDue }]) => isDue) ?? [];
    if (id === undefined || run === undefined) return false;
    run.isDue = false;
    const never = new AbortController().signal;
    const held = await this.hold(id);
    try {
      while ((await held.settle(await driver.drive(held, { drain: never, signal: never }))) === 'again');
    } finally {
      await held.close();
    }
    return true;
  }

  #require(id: string): Kept {
    const run = this.#runs.get(id);
    if (run !== undefined) return run;
    throw new DevsError(`No run "${id}".`, { code: 'THREAD_NOT_FOUND', remedy: 'Start it.' });
  }

  #open(image: Uint8Array): ReturnType<typeof createDatabase> {
    this.#copies += 1;
    const dbPath = join(this.#dir, `copy-${this.#copies}.sqlite`);
    writeFileSync(dbPath, image);
    const db = createDatabase({ dbPath, synchronous: 'normal' });
    db.pragma('synchronous = OFF'); // what is durable is what has arrived
    return db;
  }
}

const lost = (id: string): DevsError =>
  new DevsError(`Run "${id}" is another one's.`, { code: 'LEASE_LOST', remedy: 'Let it go on.' });
