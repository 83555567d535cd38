import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';
import { parseStored, type StoreOptions } from '../rows/rows.ts';

/** When a schedule fires, as it is stored. */
export interface StoredTimes {
  readonly cron?: string;
  /** Milliseconds. */
  readonly every?: number;
  readonly timeZone?: string;
  readonly overlap?: 'skip' | 'wait' | 'allow';
  /** Each firing is a turn of this run. @defaultValue each firing is a run */
  readonly thread?: string;
  /** Latest possible firing; milliseconds since the Unix epoch. */
  readonly until?: number;
}

/** A schedule as it is stored. Times are in milliseconds since the Unix epoch. */
export interface ScheduleRow {
  readonly id: string;
  readonly graph: string;
  readonly times: StoredTimes;
  readonly given: { readonly input: unknown; readonly options: Readonly<Record<string, unknown>> };
  readonly createdAt: number;
  /** `null` after the last firing. */
  readonly nextAt: number | null;
  /** The run of this firing is being started, by a process that may have died. */
  readonly firingAt: number | null;
  /** Of the last firing that started a run. */
  readonly lastAt: number | null;
  readonly lastRun: string | null;
  readonly error: string | null;
}

export type NewSchedule = Pick<ScheduleRow, 'id' | 'graph' | 'times' | 'given' | 'createdAt' | 'nextAt'>;

/** The next firing, and the fate of the one that is due. */
export interface Advance {
  /** The `nextAt` that was read: another process may have been faster. */
  readonly from: number;
  readonly to: number | null;
  /** False for a firing that is left out. */
  readonly fires: boolean;
}

/** How a firing went. */
export interface Fired {
  readonly firingAt: number;
  /** `null` where it was refused. */
  readonly run: string | null;
  readonly error: string | null;
}

type Awaitable<T> = T | Promise<T>;

/** Schedules, in one state file or in a cluster, by its clock. */
export interface ScheduleRows {
  /** Milliseconds since the Unix epoch. */
  now(): Awaitable<number>;
  get(id: string): Awaitable<ScheduleRow | null>;
  /** Records a schedule, in the place of one of the same id. */
  put(schedule: NewSchedule): Awaitable<void>;
  remove(id: string): Awaitable<boolean>;
  /** All of them by id, at most `limit`; with `graph`, of one app. */
  list(limit: number, graph?: string): Awaitable<readonly ScheduleRow[]>;
  /** Those of an app that fire now, or have begun to. */
  due(graph: string): Awaitable<readonly ScheduleRow[]>;
  /** False where another process has done it. */
  advance(id: string, advance: Advance): Awaitable<boolean>;
  fired(id: string, fired: Fired): Awaitable<void>;
}

interface Stored extends Omit<ScheduleRow, 'times' | 'given'> {
  readonly whenJson: string;
  readonly givenJson: string;
}

const COLUMNS = `
  id, graph, when_json AS whenJson, given_json AS givenJson, created_at AS createdAt, next_at AS nextAt, firing_at AS firingAt,
  last_at AS lastAt, last_run AS lastRun, error`;

const GET = `SELECT ${COLUMNS} FROM schedules WHERE id = ?`;

const PUT = `
  INSERT INTO schedules (id, graph, when_json, given_json, created_at, next_at)
  VALUES (@id, @graph, @whenJson, @givenJson, @createdAt, @nextAt)
  ON CONFLICT (id) DO UPDATE SET graph = excluded.graph, when_json = excluded.when_json, given_json = excluded.given_json,
                                 created_at = excluded.created_at, next_at = excluded.next_at`;

const REMOVE = 'DELETE FROM schedules WHERE id = ?';

const LIST = `SELECT ${COLUMNS} FROM schedules WHERE @graph IS NULL OR graph = @graph ORDER BY id LIMIT @limit`;

const DUE = `
  SELECT ${COLUMNS} FROM schedules
  WHERE graph = @graph AND (next_at <= @now OR firing_at IS NOT NULL) ORDER BY next_at`;

const ADVANCE = `
  UPDATE schedules SET next_at = @to, firing_at = iif(@fires, @from, firing_at)
  WHERE id = @id AND next_at = @from AND firing_at IS NULL`;

const FIRED = `
  UPDATE schedules SET firing_at = NULL, error = @error, last_run = coalesce(@run, last_run),
                       last_at = iif(@run IS NULL, last_at, @firingAt)
  WHERE id = @id AND firing_at = @firingAt`;

/** Rows of `schedules`. */
export class ScheduleStore implements ScheduleRows {
  readonly #db: Database;
  readonly now: () => number;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#db = db;
    this.now = now;
  }

  get(id: string): ScheduleRow | null {
    const row = prepare<[string], Stored>(this.#db, GET).get(id);
    return row === undefined ? null : fromRow(row);
  }

  put({ times, given, ...row }: NewSchedule): void {
    const stored = { ...row, whenJson: JSON.stringify(times), givenJson: JSON.stringify(given) };
    immediateTransaction(this.#db, () => prepare<[object]>(this.#db, PUT).run(stored));
  }

  remove(id: string): boolean {
    return immediateTransaction(this.#db, () => prepare<[string]>(this.#db, REMOVE).run(id).changes > 0);
  }

  list(limit: number, graph?: string): readonly ScheduleRow[] {
    return prepare<[object], Stored>(this.#db, LIST)
      .all({ limit, graph: graph ?? null })
      .map(fromRow);
  }

  due(graph: string): readonly ScheduleRow[] {
    return prepare<[object], Stored>(this.#db, DUE).all({ graph, now: this.now() }).map(fromRow);
  }

  advance(id: string, { from, to, fires }: Advance): boolean {
    const row = { id, from, to, fires: fires ? 1 : 0 };
    return immediateTransaction(this.#db, () => prepare<[object]>(this.#db, ADVANCE).run(row).changes > 0);
  }

  fired(id: string, fired: Fired): void {
    immediateTransaction(this.#db, () => prepare<[object]>(this.#db, FIRED).run({ id, ...fired }));
  }
}

function fromRow({ whenJson, givenJson, ...row }: Stored): ScheduleRow {
  const where = `schedule "${row.id}"`;
  return {
    ...row,
    times: parseStored(whenJson, where) as StoredTimes,
    given: parseStored(givenJson, where) as ScheduleRow['given'],
  };
}
