import type { Database } from 'better-sqlite3';
import { openStateCopy } from '../../db/createDatabase.ts';
import { onNews } from '../../db/FileWatch.ts';
import { assertSameFile } from '../../db/fileIdentity.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { EventBus } from '../../events/events.ts';
import { HERE } from '../../state/commits/CommitBarrier.ts';
import type { OutboxEvent } from '../../state/events/EventStore.ts';
import type { WebhookRows } from '../../state/events/WebhookStore.ts';
import type { ScheduleRows } from '../../state/schedules/ScheduleStore.ts';
import { awaitsInput } from '../../state/threads/threadRecords.ts';
import { threadBusy } from '../drive/lease.ts';
import type { RunInfo } from '../drive/RunResult.ts';
import { EngineStore } from '../gates/EngineStore.ts';
import { gateEventsAfter } from '../runs/gateEvents.ts';
import { getRun, inbox, listRuns, runNumbers, updateMetadata } from '../runs/lists.ts';
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
  Runs,
} from '../runs/Runs.ts';

const heldIn = new WeakMap<Database, Set<string>>();

const importedElsewhere = (threadId: string): DevsError =>
  new DevsError(`Thread "${threadId}" cannot be imported through FileRuns.`, {
    code: 'RUN_ELSEWHERE',
    remedy: 'Import it with an app over the same state file: durable(graph, { file }).',
    context: { threadId },
  });

/** Runs of one state file, for code that expects `Runs`. Leases are in the file, so it shares it with other processes. */
export class FileRuns implements Runs {
  readonly webhooks: WebhookRows;
  readonly schedules: ScheduleRows;
  readonly #store: EngineStore;
  readonly #held: Set<string>;

  /** @param db - An open state file; the caller closes it. */
  constructor(db: Database) {
    this.#store = new EngineStore(db, { events: new EventBus() });
    this.webhooks = this.#store.webhooks;
    this.schedules = this.#store.schedules;
    this.#held = heldIn.get(db) ?? new Set();
    heldIn.set(db, this.#held);
  }

  /** @throws DevsError `RUN_ELSEWHERE` for an imported run. */
  async create({ id, file, index }: NewRun): Promise<boolean> {
    if (index.status !== 'created' && !awaitsInput(index)) throw importedElsewhere(id);
    const { adoptRun } = await import('../../state/moving/movedRun.ts'); // a user of one file moves none
    const from = openStateCopy(file);
    try {
      return adoptRun(id, from, this.#store.db);
    } finally {
      from.close();
    }
  }

  async open(id: string): Promise<RunFileView> {
    const { db, threads } = this.#store;
    assertSameFile(db); // nobody else's decision would be in another one
    threads.require(id);
    const isDriven = threads.driverOf(id) !== null;
    return { db, isCopy: false, isDriven, signals: [], at: '', tell: async () => true, close: () => {} };
  }

  async reopen(id: string): Promise<RunFileView> {
    return this.open(id);
  }

  async watch(_id: string | null, tell: () => void): Promise<() => void> {
    return onNews(this.#store.db, tell);
  }

  async hold(id: string): Promise<LeasedRun> {
    const { db, threads } = this.#store;
    const { leaseEpoch: epoch } = threads.require(id);
    const driver = this.#held.has(id) ? threads.holder : threads.driverOf(id);
    if (driver !== null) throw threadBusy(id, driver, epoch);
    this.#held.add(id);
    return {
      ...{ id, epoch, db, isCopy: false, outlet: HERE },
      lost: new AbortController().signal,
      signals: async () => [],
      onSignal: () => () => {},
      settle: async () => 'settled', // the file says where it stands
      remove: async () => this.#remove(id),
      close: async () => void this.#held.delete(id),
    };
  }

  #remove(id: string): boolean {
    const { threads, remover } = this.#store;
    return this.#store.commit(() => {
      const claim = threads.claim(id);
      if (claim.kind === 'busy') throw threadBusy(id, claim.owner, claim.epoch);
      remover.remove(claim.lease);
      return true;
    });
  }

  async list(filter: RunFilter = {}): Promise<RunPage> {
    return listRuns(filter, this.#store);
  }

  /** Leaves the index empty: the file is open and can be read. */
  async indexed(ids: readonly string[]): Promise<ReadonlyMap<string, RunListItem>> {
    const { threads } = this.#store;
    const known = ids.flatMap((id) => threads.get(id) ?? []);
    return new Map(known.map(({ threadId, createdAt }) => [threadId, { createdAt, index: null }]));
  }

  async get(id: string): Promise<RunInfo | null> {
    return getRun(id, this.#store);
  }

  updateMetadata(id: string, patch: RunInfo['metadata']): Promise<RunInfo> {
    return updateMetadata(id, patch, this.#store);
  }

  async gates(filter: GateFilter = {}): Promise<GatePage> {
    return inbox(filter, this.#store.sessions);
  }

  async gateEvents(page: GateEventPage): Promise<readonly OutboxEvent[]> {
    return gateEventsAfter(page, this.#store.gateEvents);
  }

  async countGates(): Promise<number> {
    return this.#store.sessions.countOpen();
  }

  async numbers(): Promise<RunNumbers> {
    return runNumbers(this.#store);
  }

  async runOfGate(sessionId: string): Promise<string | null> {
    return this.#store.sessions.find(sessionId)?.threadId ?? null;
  }

  async close(): Promise<void> {}
}
