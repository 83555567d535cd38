import type { Database } from 'better-sqlite3';
import { openParts, type TransactionPart } from '../../db/prepare.ts';
import type { EventName, EventScope, EventSink, OrchestratorEvents } from '../../events/events.ts';
import { type CommitBarrier, HERE } from '../commits/CommitBarrier.ts';
import { EventStore } from './EventStore.ts';

interface OutboxParts {
  readonly store?: EventStore;
  /** @defaultValue what is committed has arrived */
  readonly outlet?: CommitBarrier;
}

interface Unpublished {
  readonly isCommitted: () => boolean;
  readonly publish: () => void;
}

// Per connection, not per outbox: only the outermost transaction commits, and it may belong to another class.
const unpublished = new WeakMap<Database, Unpublished[]>();

/**
 * Events of a transaction: rows of that transaction now, on the bus once it is committed.
 *
 * Call {@link flush} after your own transaction. Inside an outer one it does nothing; whoever flushes next on
 * this connection publishes in order. Events of a rolled back transaction are dropped with their rows.
 */
export class EventOutbox {
  readonly #db: Database;
  readonly #store: EventStore;
  readonly #sink: EventSink;
  readonly #outlet: CommitBarrier;
  /** What is on its way, in order; `null` where nothing is. */
  #leaving: Promise<void> | null = null;

  constructor(
    db: Database,
    sink: EventSink,
    { store = new EventStore(db), outlet = HERE }: OutboxParts = {},
  ) {
    this.#db = db;
    this.#store = store;
    this.#sink = sink;
    this.#outlet = outlet;
  }

  /** Writes the event's row in the caller's transaction. */
  record<Name extends EventName>(name: Name, payload: OrchestratorEvents[Name], scope: EventScope): void {
    const seq = this.#store.append(name, payload, scope);
    const parts = openParts(this.#db);
    const queue = unpublished.get(this.#db) ?? [];
    unpublished.set(this.#db, queue);
    queue.push({
      // In a transaction that another began, nobody says how it ended. A position is given out again after a rollback, so
      // the row must also be the same event.
      isCommitted: parts === null ? () => this.#store.holds(seq, name, payload) : () => isKept(parts),
      publish: () => this.#sink.emit(name, payload, scope),
    });
  }

  /** Publishes what was recorded on this connection and is committed. */
  flush(): void {
    if (this.#db.inTransaction) return;
    const queue = unpublished.get(this.#db) ?? [];
    unpublished.delete(this.#db);
    this.#publish(queue.filter(({ isCommitted }) => isCommitted()));
  }

  /** Nobody is told of what could still be lost (law L11). */
  #publish(events: readonly Unpublished[]): void {
    if (events.length === 0) return;
    const arrived = this.#outlet.leaving();
    if (arrived === null && this.#leaving === null) {
      for (const { publish } of events) publish();
      return;
    }
    const leaving: Promise<void> = Promise.all([this.#leaving, arrived])
      .then(() => {
        for (const { publish } of events) publish();
      })
      // What has not arrived is told by whoever finds it again.
      .catch(() => {})
      .finally(() => {
        if (this.#leaving === leaving) this.#leaving = null;
      });
    this.#leaving = leaving;
  }
}

const isKept = (parts: readonly TransactionPart[]): boolean => parts.every(({ isUndone }) => !isUndone);
