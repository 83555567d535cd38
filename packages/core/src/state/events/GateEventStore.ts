import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import type { GateEventName, OutboxEventName } from '../../events/gateEvents.ts';
import { type EventRecord, type EventRow, eventFromRow } from './EventStore.ts';

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
