import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import {
  type EventName,
  type EventScope,
  type GateEventName,
  isGateEvent,
  type OrchestratorEvents,
  OUTBOX_EVENTS,
  type OutboxEventName,
} from '../../events/events.ts';
import { parseStored, type StoreOptions } from '../rows/rows.ts';

export interface EventStoreOptions extends StoreOptions {
  /** Ends of runs get a position, too: webhooks read them. @defaultValue false */
  readonly numbersEnds?: boolean;
}

/** One line of a run's log. */
export interface EventRecord<Name extends EventName = EventName> {
  /** Position in the file; grows. */
  readonly seq: number;
  readonly threadId: string | null;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly at: number;
  readonly name: Name;
  readonly taskId: string | null;
  readonly payload: OrchestratorEvents[Name];
}

export interface EventPage {
  /** Only events after this position; 0 (the default) is the start. */
  readonly afterSeq?: number;
  /** Only events before this position, and of those the newest. */
  readonly beforeSeq?: number;
  /** At most this many; defaults to 1,000. */
  readonly limit?: number;
}

/** Events behind `after`, up to `upTo`; at most `limit`. */
interface OutboxPart {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

interface EventRow {
  readonly seq: number;
  readonly threadId: string | null;
  readonly at: number;
  readonly name: EventName;
  readonly taskId: string | null;
  readonly payloadJson: string;
}

const INSERT = `
  INSERT INTO events (thread_id, at, name, task_id, payload_json)
  VALUES (@threadId, @at, @name, @taskId, @payloadJson)`;

const NUMBER = 'INSERT INTO gate_events (seq) VALUES (?)';

const COLUMNS = `seq, thread_id AS threadId, at, name, task_id AS taskId, payload_json AS payloadJson`;

const SELECT_PAGE = `
  SELECT ${COLUMNS} FROM events WHERE thread_id = ? AND seq > ? ORDER BY seq ASC LIMIT ?`;

// From its end backwards.
const SELECT_PAGE_BEFORE = `
  SELECT ${COLUMNS} FROM events WHERE thread_id = ? AND seq > ? AND seq < ? ORDER BY seq DESC LIMIT ?`;

const SELECT_VISITS = `
  SELECT json_extract(payload_json, '$.node') AS node, count(*) AS visits, max(at) AS lastAt
  FROM events WHERE thread_id = ? AND name = 'NODE_FINISHED' GROUP BY node ORDER BY node`;

const selectNamed = (condition = ''): string => `
  SELECT ${COLUMNS} FROM events WHERE thread_id = ? AND name = ? ${condition} ORDER BY seq ASC`;

const SELECT_NAMED = selectNamed();

const SELECT_REMOVED = `
  SELECT 1 FROM events WHERE thread_id IS NULL AND name = 'RUN_REMOVED' AND payload_json ->> 'id' = ? LIMIT 1`;

/** Few of a run, and asked for while it is looked at: they have an index, whose condition this is word for word. */
const RARE: readonly EventName[] = ['GATE_SHOWN', 'RUN_SYNCED'];
const SELECT_RARE = selectNamed("AND name IN ('GATE_SHOWN', 'RUN_SYNCED')");

const SELECT_LAST_OF = `
  SELECT ${COLUMNS} FROM events
  WHERE thread_id = ? AND name IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT 1`;

const SELECT_SEQ_BEFORE = `
  SELECT coalesce(max(seq), 0) FROM events
  WHERE thread_id = ? AND seq < ? AND name IN (SELECT value FROM json_each(?))`;

// Of every run, in the order of the file.
const SELECT_OF_ALL = `
  SELECT ${COLUMNS} FROM events
  WHERE seq > ? AND seq <= ? AND thread_id IS NOT NULL AND name IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`;

const SELECT_LAST_SEQ = 'SELECT coalesce(max(seq), 0) FROM events';

const SELECT_IS = 'SELECT name = ? AND payload_json = ? FROM events WHERE seq = ?';

const DEFAULT_LIMIT = 1000;

/** How often a node of a run was visited to its end, and when last: ms since the Unix epoch, UTC. */
interface NodeExecutions {
  readonly node: string;
  readonly visits: number;
  readonly lastAt: number;
}

/**
 * Rows of `events`: appended, never changed. The log is derived; nothing that a run does rests on it. A person's yes to what a
 * gate hides does: that they were shown it is a row (`GATE_REVEALED`).
 */
export class EventStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #numbersEnds: boolean;
  readonly #insert: Statement<[Omit<EventRow, 'seq'>]>;
  readonly #number: Statement<[number]>;
  readonly #selectPage: Statement<[string, number, number], EventRow>;
  readonly #selectPageBefore: Statement<[string, number, number, number], EventRow>;
  readonly #selectVisits: Statement<[string], NodeExecutions>;
  readonly #selectNamed: Statement<[string, string], EventRow>;
  readonly #selectRare: Statement<[string, string], EventRow>;
  readonly #selectLastOf: Statement<[string, string], EventRow>;
  readonly #selectIs: Statement<[string, string, number], 0 | 1>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now, numbersEnds = false }: EventStoreOptions = {}) {
    this.#db = db;
    this.#now = now;
    this.#numbersEnds = numbersEnds;
    this.#insert = prepare(db, INSERT);
    this.#number = prepare(db, NUMBER);
    this.#selectPage = prepare(db, SELECT_PAGE);
    this.#selectPageBefore = prepare(db, SELECT_PAGE_BEFORE);
    this.#selectVisits = prepare(db, SELECT_VISITS);
    this.#selectNamed = prepare(db, SELECT_NAMED);
    this.#selectRare = prepare(db, SELECT_RARE);
    this.#selectLastOf = prepare(db, SELECT_LAST_OF);
    this.#selectIs = prepare<[string, string, number], 0 | 1>(db, SELECT_IS).pluck();
  }

  /** Appends one event in the caller's transaction and returns its position. */
  append<Name extends EventName>(
    name: Name,
    payload: OrchestratorEvents[Name],
    scope: EventScope = {},
  ): number {
    const { lastInsertRowid } = this.#insert.run({
      threadId: scope.threadId ?? null,
      at: this.#now(),
      name,
      taskId: scope.taskId ?? null,
      payloadJson: JSON.stringify(payload),
    });
    const seq = Number(lastInsertRowid);
    if (isGateEvent(name) || (this.#numbersEnds && name === 'RUN_FINISHED')) this.#number.run(seq);
    return seq;
  }

  /** Events of a run, oldest first. */
  list(
    threadId: string,
    { afterSeq = 0, beforeSeq, limit = DEFAULT_LIMIT }: EventPage = {},
  ): readonly EventRecord[] {
    const rows =
      beforeSeq === undefined
        ? this.#selectPage.all(threadId, afterSeq, limit)
        : this.#selectPageBefore.all(threadId, afterSeq, beforeSeq, limit).reverse();
    return rows.map((row) => eventFromRow(row));
  }

  /** The nodes of a run that were visited to their end, by name. */
  visitsOf(threadId: string): readonly NodeExecutions[] {
    return this.#selectVisits.all(threadId);
  }

  /** Whether a run of this id was deleted. */
  hasRemoved(id: string): boolean {
    return prepare<[string]>(this.#db, SELECT_REMOVED).get(id) !== undefined;
  }

  /** All events of one name of a run, oldest first. */
  listNamed<Name extends EventName>(threadId: string, name: Name): readonly EventRecord<Name>[] {
    const select = RARE.includes(name) ? this.#selectRare : this.#selectNamed;
    return select.all(threadId, name).map((row) => eventFromRow<Name>(row));
  }

  /** The newest event of a run that has one of these names. */
  lastOf(threadId: string, names: readonly EventName[]): EventRecord | null {
    const row = this.#selectLastOf.get(threadId, JSON.stringify(names));
    return row === undefined ? null : eventFromRow(row);
  }

  /** Position of the last event of a run before another one that has one of these names; 0 without one. */
  seqBefore(threadId: string, seq: number, names: readonly EventName[]): number {
    const select = prepare<[string, number, string], number>(this.#db, SELECT_SEQ_BEFORE).pluck();
    return select.get(threadId, seq, JSON.stringify(names)) ?? 0;
  }

  /** Events about gates and ends of runs, of every run, behind a position and up to another one; the cursor is the position. */
  outboxOfAll({ after, upTo, limit }: OutboxPart): readonly OutboxEvent[] {
    const select = prepare<[number, number, string, number], EventRow>(this.#db, SELECT_OF_ALL);
    return select.all(after, upTo, JSON.stringify(OUTBOX_EVENTS), limit).map((row) => ({
      ...eventFromRow<OutboxEventName>(row),
      cursor: String(row.seq),
    }));
  }

  /** Position of the last event of all; 0 without one. */
  lastSeq(): number {
    return prepare<[], number>(this.#db, SELECT_LAST_SEQ).pluck().get() ?? 0;
  }

  /** True if this very event stands at the position. */
  holds<Name extends EventName>(seq: number, name: Name, payload: OrchestratorEvents[Name]): boolean {
    return this.#selectIs.get(name, JSON.stringify(payload), seq) === 1;
  }
}

function eventFromRow<Name extends EventName>({ payloadJson, ...row }: EventRow): EventRecord<Name> {
  return { ...row, payload: parseStored(payloadJson, `event ${row.seq}`) } as EventRecord<Name>;
}

interface Placed {
  /** Give it as `after` to continue behind this event. Whole numbers as text, in the order in which the events arrived. */
  readonly cursor: string;
}

/** An event about a gate, with its place among those of every run. */
export type GateEvent = EventRecord<GateEventName> & Placed;

/** An event that something outside of devs may have to hear of: about a gate, or the end of a run. */
export type OutboxEvent = EventRecord<OutboxEventName> & Placed;

interface GateEventRow extends EventRow {
  readonly position: number;
}

const SELECT_AFTER = `
  SELECT g.position, e.seq, e.thread_id AS threadId, e.at, e.name, e.task_id AS taskId, e.payload_json AS payloadJson
  FROM gate_events AS g JOIN events AS e ON e.seq = g.seq
  WHERE g.position > ? ORDER BY g.position LIMIT ?`;

// SQLite keeps this number when rows are deleted.
const SELECT_LAST = `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'gate_events'), 0)`;

/** Reads `gate_events`: where events about gates stand among each other. `EventStore` writes its rows with the events. */
export class GateEventStore {
  readonly #selectAfter: Statement<[number, number], GateEventRow>;
  readonly #selectLast: Statement<[], number>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#selectAfter = prepare(db, SELECT_AFTER);
    this.#selectLast = prepare<[], number>(db, SELECT_LAST).pluck() as Statement<[], number>;
  }

  /** Those behind a position, in order. */
  after(position: number, limit: number): readonly OutboxEvent[] {
    return this.#selectAfter.all(position, limit).map(({ position: at, ...row }) => ({
      ...eventFromRow<OutboxEventName>(row),
      cursor: String(at),
    }));
  }

  /** The last position that was used; 0 in a new file. */
  last(): number {
    return this.#selectLast.get() ?? 0;
  }
}
