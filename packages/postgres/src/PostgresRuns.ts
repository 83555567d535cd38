import { randomUUID } from 'node:crypto';
import { DevsError, isDevsError, type Runs } from '@devs/core';
import { type NewRun, type RunFileView, type RunSignal, runFile } from '@devs/core/internal';
import { assertFileFits, type LookedAtFiles, markWalMode, type RunFiles } from './files/RunFiles.ts';
import { HeldFile, type WorkingCopies } from './held/HeldFile.ts';
import { HeldPostgresRun } from './held/HeldPostgresRun.ts';
import { requireTenant } from './options.ts';
import type { NewRunStart, NewRuns } from './rows/NewRuns.ts';
import type { RunLists } from './rows/RunLists.ts';
import type { Claimer, NotClaimed, RunClaim, RunRows } from './rows/RunRows.ts';
import type { ScheduleRows } from './rows/ScheduleRows.ts';
import type { Shipper } from './rows/Shipper.ts';
import type { Watches } from './rows/Watches.ts';
import type { WebhookRows } from './rows/WebhookRows.ts';
import type { Words } from './rows/Words.ts';
import { toldChannel } from './server/Owner.ts';
import type { ServerClock } from './server/ServerClock.ts';
import type { LeaseComparison, SessionOwner } from './server/SessionOwner.ts';
import {
  type DrivenRuns,
  type DrivingParts,
  type WaitingWorker,
  Worker,
  type WorkerOptions,
} from './worker/Worker.ts';

export interface PostgresRunsParts {
  readonly schema: string;
  readonly clock: ServerClock;
  readonly rows: RunRows;
  readonly made: NewRuns;
  readonly files: RunFiles;
  readonly looked: LookedAtFiles;
  readonly lists: RunLists;
  readonly webhooks: WebhookRows;
  readonly schedules: ScheduleRows;
  readonly watches: Watches;
  readonly words: Words;
  readonly shipper: Shipper;
  readonly owner: SessionOwner;
  readonly copies: WorkingCopies;
  readonly maxFileBytes: number;
  /** Resolves when the database can be used by this release: asked before everything else. */
  readonly ready: (worker?: WaitingWorker) => Promise<void>;
  /** For who drives the runs. */
  readonly driving: DrivingParts;
  /** Ends its connections. */
  readonly end: () => Promise<void>;
}

/** A run that this process has, or is about to: `run` is `null` while its claim is under way. */
interface InHand {
  readonly lease: string;
  readonly run: HeldPostgresRun | null;
}

/** Bytes of an id: it stands in indexes with a tenant, whose entries have at most 2,704. */
const LONGEST_ID = 1000;

/** Runs with files in PostgreSQL. Created by `postgres`. */
export class PostgresRuns implements Runs, DrivenRuns {
  /** The server's clock. */
  readonly now: () => number;
  readonly #parts: PostgresRunsParts;
  /** That this process has in hand. */
  readonly #held = new Map<string, InHand>();
  readonly #told = new Map<string, Set<() => void>>();
  #isListening = false;
  #closing: Promise<void> | null = null;

  constructor(parts: PostgresRunsParts) {
    this.now = parts.clock.now;
    this.#parts = parts;
    parts.owner.compares(() => this.#comparison());
  }

  get webhooks(): WebhookRows {
    return this.#parts.webhooks;
  }

  get schedules(): ScheduleRows {
    return this.#parts.schedules;
  }

  get schema(): string {
    return this.#parts.schema;
  }

  /**
   * Executes runs in this process, like `devs worker`, until the worker is stopped. Stop it before you close these
   * runs.
   *
   * @throws RangeError, DevsError as `Worker.start`.
   *
   * @example
   * ```ts
   * const runs = postgres(url);
   * const app = durable(builder, { runs, graph: 'mail' });
   * const worker = await runs.work({ drivers: [app], slots: 10 });
   * process.once('SIGTERM', () => worker.stop().then(() => app.close()));
   * ```
   */
  work(options: WorkerOptions): Promise<Worker> {
    return Worker.start(this, options);
  }

  /** Returns the parts that a worker needs, when the database is usable. */
  async driving(worker?: WaitingWorker): Promise<DrivingParts> {
    await this.#parts.ready(worker);
    if (worker !== undefined) this.#parts.words.ask();
    return this.#parts.driving;
  }

  /** This process, as other processes see it. */
  get owner(): SessionOwner {
    return this.#parts.owner;
  }

  async create(run: NewRun): Promise<boolean> {
    const { file } = run;
    this.#assertNew(run, file);
    runFile.openBytes(file).close(); // refuses what is none
    await this.#parts.ready();
    return this.#parts.made.create({ ...run, file: markWalMode(file) }, runFile.schema);
  }

  async start(run: NewRunStart): Promise<boolean> {
    this.#assertNew(run, run.start);
    await this.#parts.ready();
    return this.#parts.made.start(run, runFile.schema);
  }

  #assertNew({ id, tenant = 'default' }: Pick<NewRun, 'id' | 'tenant'>, bytes: Uint8Array): void {
    if (id === '' || id.includes('\0')) throw new RangeError('id: expected a string without NUL');
    if (Buffer.byteLength(id) > LONGEST_ID)
      throw new RangeError(`id: expected at most ${LONGEST_ID} bytes of UTF-8, got ${Buffer.byteLength(id)}`);
    requireTenant(tenant);
    assertFileFits(id, bytes.length, this.#parts.maxFileBytes);
  }

  async open(id: string): Promise<RunFileView> {
    return (await this.#known(id, this.#look(id, null))) ?? unknown(id);
  }

  reopen(id: string, at: string): Promise<RunFileView | null> {
    return this.#known(id, this.#look(id, at));
  }

  /** Replaces the error of an unknown run that was swept. */
  async #known<T>(id: string, asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      if (!isDevsError(error, 'THREAD_NOT_FOUND')) throw error;
      throw (await this.#parts.driving.ended.notKept(id)) ?? error;
    }
  }

  async #look(id: string, before: string | null): Promise<RunFileView | null> {
    await this.#parts.ready();
    const { looked, rows } = this.#parts;
    return looked.look(id, (run) => {
      const { image, start, signals, told, givenUp, driven: isDriven, ...row } = run ?? unknown(id);
      const at = [row.birth, row.mark, row.seq, told, row.taken, isDriven, givenUp].join(' ');
      if (at === before) return null;
      const db = runFile.openBytes(image.bytes);
      if (start !== null) runFile.begin(db, start.run, start.at);
      runFile.markGivenUp(db, id, givenUp, this.now);
      return {
        ...{ db, isCopy: true, isDriven, signals, at },
        tell: (signal: RunSignal) => rows.tell(id, signal, told),
        close: () => void db.close(),
      };
    });
  }

  async watch(id: string | null, tell: () => void): Promise<() => void> {
    await this.#parts.ready();
    return this.#parts.watches.watch(id, tell);
  }

  async hear(id: string, hear: (words: Uint8Array) => void): Promise<() => void> {
    await this.#parts.ready();
    return this.#parts.words.hear(id, hear);
  }

  async hold(id: string, graph?: string): Promise<HeldPostgresRun> {
    const held = await this.take(id, { graph });
    if (typeof held === 'object') return held;
    return this.#known(id, Promise.reject(notHeld(id, held)));
  }

  /**
   * Takes a run's lease for a worker, or returns the reason why it cannot.
   *
   * @param how - `jobId`: the fetched job, completed when the run is settled.
   */
  async take(id: string, how: Omit<Claimer, 'owner'> = {}): Promise<HeldPostgresRun | NotClaimed> {
    if (this.#held.has(id)) return 'busy';
    const lease = randomUUID();
    this.#held.set(id, { lease, run: null });
    try {
      const held = await this.#claim({ runId: id, lease }, how);
      if (typeof held === 'object') this.#held.set(id, { lease, run: held });
      else this.#held.delete(id);
      return held;
    } catch (error) {
      this.#held.delete(id);
      throw error;
    }
  }

  async #claim(
    wanted: Pick<RunClaim, 'runId' | 'lease'>,
    how: Omit<Claimer, 'owner'>,
  ): Promise<HeldPostgresRun | NotClaimed> {
    const { owner, ready, rows, schema } = this.#parts;
    await ready();
    if (!this.#isListening) owner.listen(toldChannel(schema), (runId) => this.#tell(runId));
    this.#isListening = true;
    this.#parts.words.ask();
    await owner.ready();
    const claim = await rows.claim(wanted, { ...how, owner: owner.id }, runFile.schema);
    if (typeof claim === 'string') return claim;
    try {
      return await this.#checkout(claim);
    } catch (error) {
      await rows.free(claim).catch(() => undefined); // the error before it is the one to tell
      throw error;
    }
  }

  async #checkout(claim: RunClaim): Promise<HeldPostgresRun> {
    const { rows, files, looked, shipper, copies, maxFileBytes, words } = this.#parts;
    const at = (await looked.toHold(claim.runId)) ?? unknown(claim.runId);
    const codec = files.codecOf(claim.tenant);
    const parts = { shipper, maxFileBytes, codec, now: this.now, dir: copies.dir() };
    const file = await HeldFile.checkout(claim, at, parts);
    try {
      await rows.begin(claim);
    } catch (error) {
      file.close();
      throw error;
    }
    return new HeldPostgresRun({
      ...{ claim, file, rows, files, words, birth: at.birth },
      keep: (left) => looked.keep(claim.runId, left),
      taken: at.taken,
      onTold: (runId, tell) => this.#onTold(runId, tell),
      onClose: () => this.#held.delete(claim.runId),
    });
  }

  async list(filter: NonNullable<Parameters<Runs['list']>[0]> = {}): ReturnType<Runs['list']> {
    await this.#parts.ready();
    return this.#parts.lists.list(filter);
  }

  async get(id: string): ReturnType<Runs['get']> {
    await this.#parts.ready();
    return this.#parts.lists.get(id);
  }

  async updateMetadata(
    ...[id, patch]: Parameters<Runs['updateMetadata']>
  ): ReturnType<Runs['updateMetadata']> {
    await this.#parts.ready();
    const { lists } = this.#parts;
    const updated = (await lists.updateMetadata(id, patch)) ? await lists.get(id) : null;
    return updated ?? this.#known(id, Promise.reject(unknownRun(id)));
  }

  async indexed(ids: readonly string[]): ReturnType<Runs['indexed']> {
    await this.#parts.ready();
    return this.#parts.lists.indexed(ids);
  }

  async countGates(): Promise<number> {
    await this.#parts.ready();
    return this.#parts.lists.countGates();
  }

  async numbers(): ReturnType<Runs['numbers']> {
    await this.#parts.ready();
    return this.#parts.driving.view.numbers();
  }

  async gates(page: NonNullable<Parameters<Runs['gates']>[0]> = {}): ReturnType<Runs['gates']> {
    await this.#parts.ready();
    return this.#parts.lists.gates(page);
  }

  async gateEvents(page: Parameters<Runs['gateEvents']>[0]): ReturnType<Runs['gateEvents']> {
    await this.#parts.ready();
    return this.#parts.lists.gateEvents(page);
  }

  async runOfGate(sessionId: string): Promise<string | null> {
    await this.#parts.ready();
    return this.#parts.lists.runOfGate(sessionId);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { owner, copies, end, watches, words } = this.#parts;
    watches.close();
    words.close();
    await Promise.allSettled([...this.#held.values()].flatMap(({ run }) => run?.close() ?? []));
    await owner.close();
    await end();
    copies.remove();
  }

  #onTold(runId: string, tell: () => void): () => void {
    const listeners = this.#told.get(runId) ?? new Set();
    this.#told.set(runId, listeners.add(tell));
    return () => {
      listeners.delete(tell);
      if (listeners.size === 0) this.#told.delete(runId);
    };
  }

  /**
   * Lets go of runs that others have by now, and of those that are this process' by their rows under leases that it does not
   * know, which are others' then: a server that has lost commits has them as they were.
   */
  #comparison(): LeaseComparison {
    const { meters, leases: all } = this.#parts.driving;
    const before = [...this.#held];
    const leases = before.map(([, { lease }]) => lease);
    const failed = (): void => meters.add('failedComparisons');
    const compare = (rows: ReadonlyMap<string, string>): void => {
      for (const [id, { run }] of before) run?.checkLease(rows.get(id));
      const known = new Set([...leases, ...[...this.#held.values()].map(({ lease }) => lease)]);
      const unknown = [...rows.values()].filter((lease) => !known.has(lease));
      if (unknown.length === 0) return;
      // The next comparison may find a lease before this one has freed it: only one of them counts the run.
      all.freeLeases(unknown).then((freed) => meters.add('unknownLeases', freed), failed);
    };
    return { leases, compare, failed };
  }

  /** @param runId - `null`: nobody knows which, as the connection is new. */
  #tell(runId: string | null): void {
    const listeners = runId === null ? [...this.#told.values()] : [this.#told.get(runId) ?? []];
    for (const tell of listeners.flatMap((each) => [...each])) tell();
  }
}

const unknownRun = (id: string): DevsError =>
  new DevsError(`There is no run "${id}".`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'List the runs to find the right id.',
    context: { threadId: id },
  });

function unknown(id: string): never {
  throw unknownRun(id);
}

function notHeld(id: string, why: NotClaimed): DevsError {
  if (why === 'unknown' || why === 'elsewhere') return unknownRun(id);
  if (why === 'newer') {
    return new DevsError(`The file of run "${id}" was written by a newer release.`, {
      code: 'SCHEMA_TOO_NEW',
      remedy: 'Upgrade @devs/core here, or leave the run to upgraded workers.',
      context: { threadId: id },
    });
  }
  return new DevsError(`Run "${id}" is in use by a live process.`, {
    code: 'THREAD_BUSY',
    remedy: 'Wait until that process releases the run. Signals and decisions are possible in the meantime.',
    context: { threadId: id },
  });
}
