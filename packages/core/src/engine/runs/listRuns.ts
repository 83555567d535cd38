import { transaction } from '../../db/transaction.ts';
import type { RunQuery } from '../../state/runs/RunDirectory.ts';
import { THREAD_STATUSES, type Thread, type ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { RunInfo } from '../drive/RunResult.ts';
import type { EngineStore } from '../EngineStore.ts';
import { type PageRequest, pageLimit, pageOf, parseCursor } from './pages.ts';

/** Selects the runs to list. */
export interface RunFilter extends PageRequest {
  /** One status, or a list. @defaultValue all */
  readonly status?: ThreadStatus | readonly ThreadStatus[];
  /** The `fingerprint` of an app. @defaultValue every graph in the file */
  readonly graph?: string;
  /**
   * Only runs that would continue if a process ran them: recorded, left by a process that died or was stopped, or woken
   * by a decision or request. Timers are not included. @defaultValue false
   */
  readonly due?: boolean;
  /** Started at this time or later. */
  readonly createdSince?: Date;
  /** Started before this time. */
  readonly createdBefore?: Date;
}

export interface RunPage {
  /** Newest first. */
  readonly runs: readonly RunInfo[];
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
    const runs = items.map(({ id }) => infoOf(threads.require(id), threads.driverOf(id) !== null));
    return { runs, next };
  });
}

/** What is looked for, from the newest on. @throws RangeError as `listRuns`. */
export function runQueryOf(filter: RunFilter): RunQuery {
  const { status, graph, due = false, createdSince, createdBefore } = filter;
  const end = { at: parseTime('createdBefore', createdBefore) ?? Number.MAX_SAFE_INTEGER, id: '' };
  return {
    statuses: statusesOf(status),
    graph: graph ?? null,
    due,
    since: parseTime('createdSince', createdSince) ?? Number.MIN_SAFE_INTEGER,
    before: earlierPlace(parseCursor(filter.after), end),
    limit: pageLimit(filter.limit),
  };
}

/** @param isDriven - Whether a live process executes or holds it. */
export function infoOf(thread: Thread, isDriven: boolean): RunInfo {
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
