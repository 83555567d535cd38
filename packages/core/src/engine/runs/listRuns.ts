import { transaction } from '../../db/transaction.ts';
import type { RunQuery } from '../../state/RunDirectory.ts';
import { THREAD_STATUSES, type Thread, type ThreadStatus } from '../../state/threadRecords.ts';
import type { EngineStore } from '../EngineStore.ts';
import { type PageRequest, pageLimit, pageOf, placeOf } from './pages.ts';

/** Which runs of the state file are listed. */
export interface RunFilter extends PageRequest {
  /** @defaultValue any */
  readonly status?: ThreadStatus | readonly ThreadStatus[];
  /** The `fingerprint` of the app whose runs are wanted. @defaultValue of every graph in the file */
  readonly graph?: string;
  /**
   * Only runs that would go on if somebody drove them: begun, left by a driver that died or whose process was told to
   * stop, or woken by a decision or a request since. Whoever takes them up leaves those that are driven. Timers are
   * not among them. @defaultValue false
   */
  readonly due?: boolean;
  /** Started then or later. */
  readonly createdSince?: Date;
  /** Started before. */
  readonly createdBefore?: Date;
}

/** A run in a list. Times are ISO 8601, UTC. */
export interface RunSummary {
  readonly id: string;
  readonly status: ThreadStatus;
  /** Why it ended or waits, for people. */
  readonly reason: string | null;
  /** The `fingerprint` of the graph it goes on with. */
  readonly graph: string;
  /** Whether a live process drives or holds it. False while it is `running`: its driver has died. */
  readonly isDriven: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** `null` while it has not ended. */
  readonly endedAt: string | null;
}

export interface RunPage {
  /** Newest first. */
  readonly runs: readonly RunSummary[];
  /** Give it as `after` for the next page; `null` on the last. */
  readonly next: string | null;
}

/** @throws RangeError for a status that is none, a time that is none, or a bad `limit` or `after`. */
export function listRuns(filter: RunFilter, { db, directory, threads }: EngineStore): RunPage {
  const query = runQueryOf(filter);
  return transaction(db, 'deferred', () => {
    const { items, next } = pageOf(
      directory.page({ ...query, limit: query.limit + 1 }),
      query.limit,
      (at) => at,
    );
    const runs = items.map(({ id }) => summaryOf(threads.require(id), threads.driverOf(id) !== null));
    return { runs, next };
  });
}

/** What is looked for, from the newest on. @throws RangeError as `listRuns`. */
export function runQueryOf(filter: RunFilter): RunQuery {
  const { status, graph, due = false, createdSince, createdBefore } = filter;
  const end = { at: timeOf('createdBefore', createdBefore) ?? Number.MAX_SAFE_INTEGER, id: '' };
  return {
    statuses: statusesOf(status),
    graph: graph ?? null,
    due,
    since: timeOf('createdSince', createdSince) ?? Number.MIN_SAFE_INTEGER,
    before: earlier(placeOf(filter.after), end),
    limit: pageLimit(filter.limit),
  };
}

function summaryOf(thread: Thread, isDriven: boolean): RunSummary {
  const { threadId: id, status, reason, graphFingerprint: graph, createdAt, updatedAt, endedAt } = thread;
  return {
    ...{ id, status, reason, graph, isDriven },
    createdAt: isoOf(createdAt),
    updatedAt: isoOf(updatedAt),
    endedAt: endedAt === null ? null : isoOf(endedAt),
  };
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** A page goes on where the one before ended; whoever asks for runs before a time goes on before that, too. */
const earlier = <P extends { readonly at: number }>(place: P | null, end: P): P =>
  place !== null && place.at < end.at ? place : end;

/** @throws RangeError for one that is none. */
export function statusesOf(status: RunFilter['status'] = THREAD_STATUSES): readonly ThreadStatus[] {
  const statuses = typeof status === 'string' ? [status] : status;
  const unknown = statuses.find((each) => !THREAD_STATUSES.includes(each));
  if (unknown !== undefined) throw new RangeError(`status: unknown status "${String(unknown)}"`);
  return [...new Set(statuses)];
}

/** Milliseconds since the Unix epoch; `null` where no time is given. */
export function timeOf(name: string, time: Date | undefined): number | null {
  if (time === undefined) return null;
  const ms = time instanceof Date ? time.getTime() : Number.NaN;
  if (Number.isNaN(ms)) throw new RangeError(`${name}: expected a valid Date`);
  return ms;
}
