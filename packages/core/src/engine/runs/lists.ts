// Lists of the runs of a file, and of their open gates: in pages, and as news.

import type { Database } from 'better-sqlite3';
import { whenFree } from '../../db/busy.ts';
import { transaction } from '../../db/prepare.ts';
import { GateEventStore, type OutboxEvent } from '../../state/events/EventStore.ts';
import { HitlSessionStore } from '../../state/gates/HitlSessionStore.ts';
import {
  type LabelQuery,
  labelsFrom,
  labelsOf,
  labelTexts,
  patchedLabels,
  type RunLabels,
} from '../../state/labels/RunLabelStore.ts';
import type { RunQuery } from '../../state/runs/RunDirectory.ts';
import {
  AWAITS_INPUT,
  hasEnded,
  runNotFound,
  THREAD_STATUSES,
  type Thread,
  type ThreadStatus,
} from '../../state/threads/threadRecords.ts';
import { WaitStore } from '../../state/threads/WaitStore.ts';
import { ASKED_TO_STOP } from '../drive/due.ts';
import { assertLabels } from '../drive/givenLabels.ts';
import type { RunInfo } from '../drive/RunResult.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { type Gate, gateOf, gateWithDeadlines } from '../gates/Gate.ts';
import { eventPosition, unknownCursor } from './gateEvents.ts';
import type { GateFilter, GatePage, LabelFilter, RunFilter, RunNumbers, RunPage } from './Runs.ts';

/** Where a page ended: a time in ms since the Unix epoch, and an id among those of that time. */
interface PageCursor {
  readonly at: number;
  readonly id: string;
}

const DEFAULT_LIMIT = 50;

const MAX_LIMIT = 1000;

/** @throws RangeError */
export function pageLimit(limit: number = DEFAULT_LIMIT): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new RangeError(`limit: expected a whole number from 1 to ${MAX_LIMIT}, got ${String(limit)}`);
}

/** A place as text: for a URL as it is. */
export function cursorOf({ at, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

/** @throws RangeError for a text that no page gave. */
export function parseCursor(after: string | undefined): PageCursor | null {
  if (after === undefined) return null;
  const [at, id] = parseCursorText(after);
  if (Number.isSafeInteger(at) && typeof id === 'string') return { at: at as number, id };
  throw new RangeError('after: expected the `next` of a page');
}

function parseCursorText(after: unknown): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(String(after), 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** One more than the page was read: whether there is another. */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  toPlace: (item: T) => PageCursor,
): { readonly items: readonly T[]; readonly next: string | null } {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : cursorOf(toPlace(last)) };
}

/** What a list of pages is made of. */
export const pages = {
  ...{ limit: pageLimit, place: parseCursor, of: pageOf, position: eventPosition, unknownCursor },
  /** Labels as they are stored, as they are read, and those of a filter. */
  ...{ labelTexts, labelsFrom, patchedLabels, labelQuery: labelQueryOf },
} as const;

/** @throws RangeError for a status that is none, a time that is none, or a bad `limit` or `after`. */
export function listRuns(filter: RunFilter, store: EngineStore): RunPage {
  const { db, directory } = store;
  const query = runQueryOf(filter);
  if (!isOfOneFile(filter)) return { runs: [], next: null };
  return transaction(db, 'deferred', () => {
    const { items, next } = pageOf(
      directory.page({ ...query, limit: query.limit + 1 }),
      query.limit,
      (at) => at,
    );
    return { runs: items.flatMap(({ id }) => getRun(id, store) ?? []), next };
  });
}

/** The numbers of one state file. */
export function runNumbers({ directory, sessions, now }: EngineStore): RunNumbers {
  const tenant = DEFAULT_TENANT;
  const oldest = sessions.oldestOpen();
  const gates =
    oldest === null
      ? []
      : [{ tenant, open: sessions.countOpen(), oldestSeconds: Math.max(0, (now() - oldest) / 1000) }];
  return { runs: directory.countByStatus().map((count) => ({ tenant, ...count })), gates };
}

/** One state file has one tenant. */
export const isOfOneFile = ({ tenant = DEFAULT_TENANT }: LabelFilter): boolean => tenant === DEFAULT_TENANT;

/** One run as {@link listRuns} lists it; `null` for an unknown id. */
export function getRun(id: string, { threads, labels }: EngineStore): RunInfo | null {
  const thread = threads.get(id);
  return thread === null ? null : infoOf(thread, threads.driverOf(id) !== null, labels.of(id));
}

/** Changes the metadata that a run is found by. @throws DevsError `THREAD_NOT_FOUND` */
export async function updateMetadata(
  id: string,
  patch: RunLabels['metadata'],
  store: EngineStore,
): Promise<RunInfo> {
  await whenFree(store.db, () =>
    store.commit(() => {
      store.threads.require(id);
      store.labels.patch(id, patch);
    }),
  );
  return getRun(id, store) ?? runNotFound(id);
}

/** What is looked for, from the newest on. @throws RangeError as `listRuns`. */
export function runQueryOf(filter: RunFilter): RunQuery {
  const { status, graph, due = false, createdSince, createdBefore } = filter;
  const end = { at: parseTime('createdBefore', createdBefore) ?? Number.MAX_SAFE_INTEGER, id: '' };
  return {
    ...labelQueryOf(filter),
    statuses: statusesOf(status),
    graph: graph ?? null,
    due,
    since: parseTime('createdSince', createdSince) ?? Number.MIN_SAFE_INTEGER,
    before: earlierPlace(parseCursor(filter.after), end),
    limit: pageLimit(filter.limit),
  };
}

/** The tenant of runs without one. */
const DEFAULT_TENANT = 'default';

/** More would make statements of their own, each. */
const MOST_LABELS = 10;

/** @throws TypeError for bad metadata, tags or texts; RangeError for too many. */
export function labelQueryOf({
  metadata = {},
  tags = [],
  owner = {},
  idPrefix = '',
  tenant = '',
}: LabelFilter): LabelQuery {
  assertLabels({ metadata, tags, owner });
  if (typeof idPrefix !== 'string') throw new TypeError('idPrefix must be a string.');
  if (typeof tenant !== 'string') throw new TypeError('tenant must be a string.');
  const labels = labelTexts({ ...labelsOf({ tags }), metadata, owner });
  if (labels.length <= MOST_LABELS) return { labels, idPrefix };
  throw new RangeError(`metadata, owner, tags: expected at most ${MOST_LABELS} in all, got ${labels.length}`);
}

/** @param isDriven - Whether a live process executes or holds it. */
export function infoOf(thread: Thread, isDriven: boolean, labels: RunLabels): RunInfo {
  const { threadId: id, status, reason, graphFingerprint: graph, createdAt, updatedAt, endedAt } = thread;
  return {
    ...{ id, status, reason, graph, isDriven, isDue: isLeftToDo(thread) },
    createdAt: isoOf(createdAt),
    updatedAt: isoOf(updatedAt),
    endedAt: endedAt === null ? null : isoOf(endedAt),
    ...labels,
  };
}

/** As the directory of the runs of a file finds those that are due. */
export function isLeftToDo({
  status,
  reason,
  wakeSeq,
  handledSeq,
}: Pick<Thread, 'status' | 'reason' | 'wakeSeq' | 'handledSeq'>): boolean {
  if (reason === AWAITS_INPUT || hasEnded(status)) return false;
  if (status === 'created' || status === 'running') return true;
  return wakeSeq > handledSeq || (status === 'paused' && reason === ASKED_TO_STOP);
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** A page goes on where the one before ended; whoever asks for runs before a time goes on before that, too. */
const earlierPlace = <P extends { readonly at: number }>(place: P | null, end: P): P =>
  place !== null && place.at < end.at ? place : end;

/** @throws RangeError for one that is none. */
export function statusesOf(status: RunFilter['status'] = THREAD_STATUSES): readonly ThreadStatus[] {
  const statuses = typeof status === 'string' ? [status] : status;
  const unknown = statuses.find((each) => !THREAD_STATUSES.includes(each));
  if (unknown !== undefined) throw new RangeError(`status: unknown status "${String(unknown)}"`);
  return [...new Set(statuses)];
}

/** Milliseconds since the Unix epoch; `null` where no time is given. */
export function parseTime(name: string, time: Date | undefined): number | null {
  if (time === undefined) return null;
  const ms = time instanceof Date ? time.getTime() : Number.NaN;
  if (Number.isNaN(ms)) throw new RangeError(`${name}: expected a valid Date`);
  return ms;
}

/** The open questions of every run in the file, or of those that match. @throws RangeError, TypeError for a bad filter. */
export function inbox(filter: GateFilter, sessions: HitlSessionStore): GatePage {
  const limit = pageLimit(filter.limit);
  const place = parseCursor(filter.after);
  const query = labelQueryOf(filter);
  if (!isOfOneFile(filter)) return { gates: [], next: null };
  const after = place && { suspendedAt: place.at, id: place.id };
  const found = sessions.pageOpen(after, limit + 1, query);
  const { items, next } = pageOf(found, limit, ({ suspendedAt, id }) => ({ at: suspendedAt, id }));
  return { gates: items.map(gateOf), next };
}

/** The open questions of all runs in a file, told when they become others: cheap enough to ask after every commit. */
export class OpenQuestions {
  readonly #sessions: HitlSessionStore;
  readonly #waits: WaitStore;
  readonly #events: GateEventStore;
  #known: string;
  /** Position of the last gate event that was returned. */
  #position: number;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#sessions = new HitlSessionStore(db);
    this.#waits = new WaitStore(db);
    this.#events = new GateEventStore(db);
    this.#known = this.#ids();
    this.#position = this.#events.last();
  }

  /** All of them, where one was opened or closed since the last look; else `null`. */
  news(): readonly Gate[] | null {
    const ids = this.#ids();
    if (ids === this.#known) return null;
    this.#known = ids;
    return this.#sessions
      .listOpenOfRuns()
      .map((session) => gateWithDeadlines(session, { waits: this.#waits }));
  }

  /** Events about gates since the last look, or since this was made. */
  newEvents(): readonly OutboxEvent[] {
    const events = this.#events.after(this.#position, Number.MAX_SAFE_INTEGER);
    this.#position = Number(events.at(-1)?.cursor ?? this.#position);
    return events;
  }

  #ids(): string {
    return this.#sessions.openIds().join();
  }
}
