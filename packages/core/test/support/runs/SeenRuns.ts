import type { Database } from 'better-sqlite3';
import type { RunInfo } from '../../../src/engine/drive/RunResult.ts';
import { EngineStore } from '../../../src/engine/gates/EngineStore.ts';
import type {
  GateEventPage,
  GateFilter,
  GatePage,
  LeasedRun,
  NewRun,
  RunFileView,
  RunFilter,
  RunListItem,
  RunNumbers,
  RunPage,
  RunRelease,
  Runs,
} from '../../../src/engine/runs/Runs.ts';
import { releaseOf } from '../../../src/engine/runs/standing.ts';
import { EventBus } from '../../../src/events/events.ts';
import { immediateBarrier } from '../../../src/state/commits/CommitBarrier.ts';
import type { OutboxEvent } from '../../../src/state/events/EventStore.ts';
import { MemoryRuns } from '../../../src/testing/MemoryRuns.ts';
import { hashOf, sha256Hex } from '../../../src/values/canonicalJson.ts';
import { mirror, type Rows, rowsOf } from './mirror.ts';

/** Of a long drive what has come last is seen when the run is let go of: to copy it takes longer than to drive. */
const SEEN_AT_ONCE = 60;

/** Runs that have a file each, whose rows a test finds in its own state file as well: what was looked at, what has arrived. */
export class SeenRuns implements Runs {
  /** For the members that these tests leave alone. */
  readonly #others = new MemoryRuns();
  readonly #runs: Promise<Runs>;
  readonly #db: Database;
  /** By run, as it was seen last. */
  readonly #files = new Map<string, Rows>();
  #last: string | null = null;
  /** By run, what was found when it was looked at: its file, and what it was told. */
  readonly #looked = new Map<string, string>();

  constructor(runs: Promise<Runs>, db: Database) {
    this.#runs = runs;
    this.#db = db;
  }

  /** The run that was touched last. */
  get last(): string | null {
    return this.#last;
  }

  get webhooks(): Runs['webhooks'] {
    return this.#others.webhooks;
  }

  get schedules(): Runs['schedules'] {
    return this.#others.schedules;
  }

  async create(run: NewRun): Promise<boolean> {
    this.#last = run.id;
    return (await this.#runs).create(run);
  }

  async open(id: string): Promise<RunFileView> {
    const looked = await (await this.#runs).open(id);
    this.#last = id;
    return this.#seeing(id, looked);
  }

  async reopen(id: string, at: string): Promise<RunFileView | null> {
    const looked = await (await this.#runs).reopen(id, at);
    return looked && this.#seeing(id, looked);
  }

  #seeing(id: string, looked: RunFileView): RunFileView {
    const { db, signals } = looked;
    const what = hashOf([sha256Hex(db.serialize()), signals]);
    const close = (): void => {
      // Whoever looks takes what was told anew, at another time.
      if (this.#looked.get(id) !== what) this.#see(id, db);
      this.#looked.set(id, what);
      looked.close();
    };
    return { ...looked, tell: (signal) => looked.tell(signal), close };
  }

  async hold(id: string): Promise<LeasedRun> {
    const held = await (await this.#runs).hold(id);
    this.#last = id;
    const see = (): void => this.#see(id, held.db);
    let arrivals = 0;
    return {
      ...{ id, epoch: held.epoch, db: held.db, isCopy: held.isCopy, lost: held.lost },
      outlet: immediateBarrier(async () => {
        await held.outlet.pending();
        arrivals += 1;
        if (arrivals <= SEEN_AT_ONCE) see();
      }),
      signals: () => held.signals(),
      onSignal: (tell) => held.onSignal(tell),
      settle: (end: RunRelease) => {
        see();
        return held.settle(end);
      },
      remove: () => held.remove(),
      close: () => held.close(),
    };
  }

  /** Changes the file of the run that was touched last, as whoever holds it can. */
  async change<T>(work: (file: Database) => T): Promise<T> {
    const id = this.#last;
    if (id === null) throw new RangeError('There is no run whose file could be changed.');
    const held = await this.hold(id);
    try {
      const end = releaseOf(id, new EngineStore(held.db, { events: new EventBus() }));
      const done = work(held.db);
      this.#see(id, held.db);
      await held.settle(end);
      return done;
    } finally {
      await held.close();
    }
  }

  #see(id: string, db: Database): void {
    this.#looked.delete(id);
    if (!this.#db.open) return;
    this.#files.set(id, rowsOf(db));
    mirror([...this.#files.values()], this.#db);
  }

  async list(filter?: RunFilter): Promise<RunPage> {
    return (await this.#runs).list(filter);
  }

  async watch(id: string | null, tell: () => void): Promise<() => void> {
    return (await this.#runs).watch(id, tell);
  }

  async get(id: string): Promise<RunInfo | null> {
    return (await this.#runs).get(id);
  }

  async updateMetadata(id: string, patch: RunInfo['metadata']): Promise<RunInfo> {
    return (await this.#runs).updateMetadata(id, patch);
  }

  async indexed(ids: readonly string[]): Promise<ReadonlyMap<string, RunListItem>> {
    return (await this.#runs).indexed(ids);
  }

  async countGates(): Promise<number> {
    return (await this.#runs).countGates();
  }

  async numbers(): Promise<RunNumbers> {
    return (await this.#runs).numbers();
  }

  async gates(page?: GateFilter): Promise<GatePage> {
    return (await this.#runs).gates(page);
  }

  async gateEvents(page: GateEventPage): Promise<readonly OutboxEvent[]> {
    return (await this.#runs).gateEvents(page);
  }

  async runOfGate(sessionId: string): Promise<string | null> {
    return (await this.#runs).runOfGate(sessionId);
  }

  async close(): Promise<void> {
    await (await this.#runs).close();
  }
}
