import type { Database } from 'better-sqlite3';
import { createDatabase, openStateCopy } from '../db/createDatabase.ts';
import { threadBusy } from '../engine/drive/lease.ts';
import type { RunInfo } from '../engine/drive/RunResult.ts';
import { type Gate, gateOf } from '../engine/gates/Gate.ts';
import { gateEventsAfter } from '../engine/runs/gateEvents.ts';
import {
  isLeftToDo,
  labelQueryOf,
  OpenQuestions,
  pageLimit,
  pageOf,
  parseCursor,
  statusesOf,
} from '../engine/runs/lists.ts';
import type {
  GateEventPage,
  GateFilter,
  GatePage,
  LabelFilter,
  LeasedRun,
  NewRun,
  RunFileView,
  RunFilter,
  RunIndex,
  RunListItem,
  RunNumbers,
  RunPage,
  RunQueue,
  RunRelease,
  RunSignal,
  Runs,
} from '../engine/runs/Runs.ts';
import { DevsError } from '../errors/DevsError.ts';
import { immediateBarrier } from '../state/commits/CommitBarrier.ts';
import type { OutboxEvent } from '../state/events/EventStore.ts';
import { type WebhookRows, WebhookStore } from '../state/events/WebhookStore.ts';
import { HitlSessionStore } from '../state/gates/HitlSessionStore.ts';
import { labelTexts, patchedLabels } from '../state/labels/RunLabelStore.ts';
import { type ScheduleRows, ScheduleStore } from '../state/schedules/ScheduleStore.ts';
import { runNotFound } from '../state/threads/threadRecords.ts';

/** A run as it is kept. */
interface MemoryRun {
  readonly tenant: string;
  readonly createdAt: number;
  readonly signals: RunSignal[];
  readonly listeners: Set<() => void>;
  /** Listeners to the words of its models. */
  readonly hearers: Set<(words: Uint8Array) => void>;
  /** Sessions that were decided by a signal which nobody has taken. */
  readonly decided: Set<string>;
  readonly known: Set<string>;
  /** Sessions that it ever had. */
  readonly asked: Set<string>;
  queue: RunQueue;
  file: Uint8Array;
  end: Omit<RunRelease, 'queue'>;
  isRelabelled?: boolean;
  updatedAt: number;
  epoch: number;
  holder: AbortController | null;
  /** Signals that were taken. */
  handled: number;
  /** Times that its file became another one, and how many of them `end` knows of. */
  changes: number;
  listed: number;
  /** Keeps its gate events that have arrived. */
  readonly keep: (events: readonly OutboxEvent[]) => void;
  /** Tells whoever watches it. */
  readonly onNews: () => void;
  /** It is not there any more. */
  readonly forget: () => void;
}

/**
 * Runs with one file each, in the memory of one process, for tests of cluster code. A commit has arrived when `outlet`
 * reports it; a process that lost its lease cannot write.
 */
export class MemoryRuns implements Runs {
  readonly #runs = new Map<string, MemoryRun>();
  /** Those of every run; their positions are the cursors. */
  readonly #events: OutboxEvent[] = [];
  readonly #watching = new Set<(id: string) => void>();
  readonly #now: () => number;
  #rows: { readonly webhooks: WebhookRows; readonly schedules: ScheduleRows } | null = null;

  /** @param now - Milliseconds since the Unix epoch. */
  constructor({ now = Date.now }: { readonly now?: () => number } = {}) {
    this.#now = now;
  }

  get webhooks(): WebhookRows {
    return this.#rowsOfAll().webhooks;
  }

  get schedules(): ScheduleRows {
    return this.#rowsOfAll().schedules;
  }

  /** Rows beside the files of runs. */
  #rowsOfAll() {
    const now = this.#now;
    if (this.#rows === null) {
      const db = createDatabase({ dbPath: ':memory:' });
      this.#rows = { webhooks: new WebhookStore(db, { now }), schedules: new ScheduleStore(db, { now }) };
    }
    return this.#rows;
  }

  async create({ id, queue, file, index, tenant = 'default', isDue = true }: NewRun): Promise<boolean> {
    if (this.#runs.has(id)) return false;
    const at = this.#now();
    this.#runs.set(id, {
      ...{
        queue,
        file,
        createdAt: at,
        updatedAt: at,
        epoch: 0,
        holder: null,
        handled: 0,
        changes: 0,
        listed: 0,
      },
      end: { ...index, until: isDue ? at : null },
      tenant,
      ...{ signals: [], listeners: new Set(), hearers: new Set(), decided: new Set(), known: new Set() },
      asked: new Set(index.gates.map(({ sessionId }) => sessionId)),
      onNews: () => this.#tellWatching(id),
      keep: (events) => {
        for (const event of events) this.#events.push({ ...event, cursor: `${this.#events.length + 1}` });
      },
      forget: () => {
        this.#runs.delete(id);
        this.#tellWatching(id);
      },
    });
    this.#tellWatching(id);
    return true;
  }

  async open(id: string): Promise<RunFileView> {
    const run = this.#require(id);
    const db = openStateCopy(run.file);
    const seen = run.signals.length;
    return {
      ...{ db, isCopy: true, signals: run.signals.slice(run.handled), at: momentOf(run) },
      isDriven: run.holder !== null,
      tell: async (signal) => this.#tell(run, signal, seen),
      close: () => db.close(),
    };
  }

  async reopen(id: string, at: string): Promise<RunFileView | null> {
    return momentOf(this.#require(id)) === at ? null : this.open(id);
  }

  async watch(id: string | null, tell: () => void): Promise<() => void> {
    const own = (changed: string): void => {
      if (id === null || id === changed) tell();
    };
    this.#watching.add(own);
    return () => void this.#watching.delete(own);
  }

  async hear(id: string, hear: (words: Uint8Array) => void): Promise<() => void> {
    const { hearers } = this.#require(id);
    const own = (words: Uint8Array): void => hear(words);
    hearers.add(own);
    return () => void hearers.delete(own);
  }

  #tell(run: MemoryRun, signal: RunSignal, seen: number): boolean {
    if (run.known.has(signal.id)) return true;
    if (run.signals.length !== seen) return false;
    if (signal.kind === 'decision') {
      const gate = openOf(run).find(({ sessionId }) => sessionId === signal.sessionId);
      if (gate?.artifactHash !== signal.artifactHash) return false;
      if (signal.closes) run.decided.add(signal.sessionId);
    }
    run.known.add(signal.id);
    run.signals.push(signal);
    for (const tell of run.listeners) tell();
    run.onNews();
    return true;
  }

  #tellWatching(id: string): void {
    for (const tell of [...this.#watching]) tell(id);
  }

  async hold(id: string): Promise<LeasedRun> {
    const run = this.#require(id);
    if (run.holder !== null) throw threadBusy(id, 'another', run.epoch);
    const holder = new AbortController();
    run.holder = holder;
    run.epoch += 1;
    return new HeldInMemory(id, run, { holder, now: this.#now });
  }

  /** Takes the lease of a run away, as if its process had died. */
  free(id: string): void {
    const run = this.#require(id);
    run.holder?.abort();
    run.holder = null;
  }

  async list(filter: RunFilter = {}): Promise<RunPage> {
    const statuses = statusesOf(filter.status);
    const limit = pageLimit(filter.limit);
    const before = parseCursor(filter.after);
    const matches = matcherOf(filter);
    const found = [...this.#runs]
      .filter(matches)
      .map(([id, run]) => memoryRunSummary(id, run))
      .filter(({ status, graph }) => statuses.includes(status) && (filter.graph ?? graph) === graph)
      .filter(({ isDue }) => isDue || filter.due !== true)
      .filter((run) => before === null || isBefore(placeIn(run), before))
      .sort((a, b) => (isBefore(placeIn(a), placeIn(b)) ? 1 : -1));
    const { items, next } = pageOf(found, limit, placeIn);
    return { runs: items, next };
  }

  async indexed(ids: readonly string[]): Promise<ReadonlyMap<string, RunListItem>> {
    const known = ids.flatMap((id) => {
      const run = this.#runs.get(id);
      return run === undefined ? [] : [[id, { createdAt: run.createdAt, index: indexOf(run) }] as const];
    });
    return new Map(known);
  }

  async get(id: string): Promise<RunInfo | null> {
    const run = this.#runs.get(id);
    return run === undefined ? null : memoryRunSummary(id, run);
  }

  async updateMetadata(id: string, patch: RunInfo['metadata']): Promise<RunInfo> {
    const run = this.#require(id);
    run.end = { ...run.end, ...patchedLabels(run.end, patch) };
    run.isRelabelled = true;
    return memoryRunSummary(id, run);
  }

  async gates({ limit, after, ...filter }: GateFilter = {}): Promise<GatePage> {
    const matches = matcherOf(filter);
    const last = parseCursor(after);
    const at = ({ openedAt, sessionId: id }: Gate) => ({ at: Date.parse(openedAt), id });
    const found = [...this.#runs]
      .filter(matches)
      .flatMap(([, run]) => openOf(run))
      .filter((gate) => last === null || isBefore(last, at(gate)))
      .sort((a, b) => (isBefore(at(a), at(b)) ? -1 : 1));
    const { items, next } = pageOf(found, pageLimit(limit), at);
    return { gates: items, next };
  }

  async gateEvents(page: GateEventPage): Promise<readonly OutboxEvent[]> {
    return gateEventsAfter(page, {
      last: () => this.#events.length,
      after: (position, limit) => this.#events.slice(position, position + limit),
    });
  }

  async countGates(): Promise<number> {
    return [...this.#runs.values()].flatMap(openOf).length;
  }

  async numbers(): Promise<RunNumbers> {
    const all = [...this.#runs.values()];
    const tenants = [...new Set(all.map(({ tenant }) => tenant))];
    const ofTenant = tenants.map((tenant) => ({ tenant, own: all.filter((run) => run.tenant === tenant) }));
    return {
      runs: ofTenant.flatMap(({ tenant, own }) => {
        const statuses = own.map(({ end }) => end.status);
        const count = (status: string): number => statuses.filter((other) => other === status).length;
        return [...new Set(statuses)].map((status) => ({ tenant, status, runs: count(status) }));
      }),
      gates: ofTenant.flatMap(({ tenant, own }) => {
        const opened = own.flatMap(openOf).map(({ openedAt }) => Date.parse(openedAt));
        const oldestSeconds = Math.max(0, (Date.now() - Math.min(...opened)) / 1000);
        return opened.length === 0 ? [] : [{ tenant, open: opened.length, oldestSeconds }];
      }),
    };
  }

  async runOfGate(sessionId: string): Promise<string | null> {
    return [...this.#runs].find(([, { asked }]) => asked.has(sessionId))?.[0] ?? null;
  }

  async close(): Promise<void> {
    for (const { holder } of this.#runs.values()) holder?.abort();
  }

  #require(id: string): MemoryRun {
    return this.#runs.get(id) ?? runNotFound(id);
  }
}

class HeldInMemory implements LeasedRun {
  readonly id: string;
  readonly epoch: number;
  readonly db: Database;
  readonly isCopy = true;
  readonly lost: AbortSignal;
  readonly outlet = immediateBarrier(() => this.#arrive());
  readonly words = {
    isHeard: (): boolean => this.#run.hearers.size > 0,
    say: (words: Uint8Array): void => {
      for (const hear of this.#run.hearers) hear(words);
    },
  };
  readonly #run: MemoryRun;
  readonly #questions: OpenQuestions;
  readonly #holder: AbortController;
  readonly #now: () => number;
  /** Signals that were given out. */
  #given: number;

  constructor(
    id: string,
    run: MemoryRun,
    { holder, now }: { readonly holder: AbortController; readonly now: () => number },
  ) {
    this.id = id;
    this.epoch = run.epoch;
    this.db = openStateCopy(run.file);
    this.#questions = new OpenQuestions(this.db);
    this.lost = holder.signal;
    this.#run = run;
    this.#holder = holder;
    this.#now = now;
    this.#given = run.handled;
  }

  async #arrive(): Promise<void> {
    if (this.#run.holder !== this.#holder) throw memoryLeaseLost(this.id, this.epoch);
    const gates = new HitlSessionStore(this.db).listOpenOfRuns().map(gateOf);
    for (const { sessionId } of gates) this.#run.asked.add(sessionId);
    this.#run.end = { ...this.#run.end, gates };
    this.#run.file = this.db.serialize();
    this.#run.changes += 1;
    this.#run.keep(this.#questions.newEvents());
    this.#run.onNews();
  }

  async signals(): Promise<readonly RunSignal[]> {
    const given = this.#given;
    this.#given = this.#run.signals.length;
    return this.#run.signals.slice(given);
  }

  onSignal(tell: () => void): () => void {
    const { listeners } = this.#run;
    listeners.add(tell);
    return () => void listeners.delete(tell);
  }

  async settle({ queue, ...end }: RunRelease): Promise<'settled' | 'again'> {
    await this.#arrive();
    const run = this.#run;
    if (run.signals.length > this.#given) return 'again';
    // The metadata in lists that was changed there is not that of the file.
    if (run.isRelabelled) Object.assign(end, { metadata: run.end.metadata });
    Object.assign(run, { end, listed: run.changes, handled: this.#given, holder: null });
    run.updatedAt = this.#now();
    if (queue !== undefined) run.queue = queue;
    run.decided.clear();
    run.onNews();
    return 'settled';
  }

  async remove(): Promise<boolean> {
    await this.#arrive();
    if (this.#run.signals.length > this.#given) return false;
    this.#run.forget();
    return true;
  }

  async close(): Promise<void> {
    if (this.#run.holder === this.#holder) this.#run.holder = null;
    this.db.close();
  }
}

const momentOf = ({ changes, signals, handled, holder }: MemoryRun): string =>
  `${changes} ${signals.length} ${handled} ${holder !== null}`;

function indexOf({ end, holder, changes, listed, signals, handled }: MemoryRun): RunIndex | null {
  const { until: _, ...index } = end;
  return holder === null && changes === listed && signals.length === handled ? index : null;
}

const openOf = ({ end, decided }: MemoryRun): readonly Gate[] =>
  end.gates.filter(({ sessionId }) => !decided.has(sessionId));

function memoryRunSummary(id: string, run: MemoryRun): RunInfo {
  const { end, queue, holder, createdAt, updatedAt, signals, handled } = run;
  const at = (ms: number): string => new Date(ms).toISOString();
  const isDue = holder !== null || isLeftToDo({ ...end, wakeSeq: signals.length, handledSeq: handled });
  return {
    ...{ id, status: end.status, reason: end.reason, graph: queue.fingerprint, isDriven: holder !== null },
    isDue,
    ...{ metadata: end.metadata, tags: end.tags, ...(end.owner && { owner: end.owner }) },
    ...{ createdAt: at(createdAt), updatedAt: at(updatedAt), endedAt: null },
  };
}

function matcherOf(filter: LabelFilter): (entry: readonly [string, MemoryRun]) => boolean {
  const { labels, idPrefix } = labelQueryOf(filter);
  return ([id, { end, tenant }]) => {
    const own = new Set(labelTexts(end));
    const isTenant = (filter.tenant ?? tenant) === tenant;
    return isTenant && id.startsWith(idPrefix) && labels.every((label) => own.has(label));
  };
}

interface ListCursor {
  readonly at: number;
  readonly id: string;
}

const placeIn = ({ createdAt, id }: RunInfo): ListCursor => ({ at: Date.parse(createdAt), id });

const isBefore = (one: ListCursor, other: ListCursor): boolean =>
  one.at < other.at || (one.at === other.at && one.id < other.id);

const memoryLeaseLost = (threadId: string, epoch: number): DevsError =>
  new DevsError(`Run "${threadId}" was taken over by another driver.`, {
    code: 'LEASE_LOST',
    remedy: 'Leave it to that one.',
    context: { threadId, epoch },
  });
