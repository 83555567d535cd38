import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';
import type { StoreOptions } from '../rows/rows.ts';
import type { OutboxEvent } from './EventStore.ts';

/** Where the reader of a target stands. */
export interface WebhookPlace {
  /** Cursor of the last event that it has read. */
  readonly after: string;
  /** Earlier events are left out; milliseconds since the Unix epoch. */
  readonly since: number;
}

/** Events that a target is to get. */
export interface QueuedEvents {
  readonly from: string;
  readonly to: string;
  readonly events: readonly OutboxEvent[];
}

/** A delivery that somebody attempts now. */
export interface ClaimedDelivery {
  readonly event: OutboxEvent;
  /** With this one. */
  readonly attempts: number;
  /** Since the first attempt, ms. */
  readonly ageMs: number;
}

/** An event that a target has not taken yet. Times are in milliseconds since the Unix epoch. */
export interface WebhookDelivery {
  readonly target: string;
  /** The `id` that the target receives: the event's cursor. */
  readonly id: string;
  readonly threadId: string;
  readonly name: OutboxEvent['name'];
  readonly attempts: number;
  /** `null` before the first attempt. */
  readonly firstAt: number | null;
  readonly nextAt: number;
  /** `null` while it is attempted. */
  readonly givenUpAt: number | null;
  /** Why the last attempt failed; `null` before it has. */
  readonly error: string | null;
}

export interface FailedAttempt {
  readonly error: string;
  /** Until the next attempt, ms; `null` gives the delivery up. */
  readonly againInMs: number | null;
}

type Awaitable<T> = T | Promise<T>;

/** Deliveries of webhooks, in one state file or in a cluster. All senders of a target share them. */
export interface WebhookRows {
  /** A new target leaves out events that are older than this, ms. */
  place(target: string, leaveOutMs: number): Awaitable<WebhookPlace>;
  /** Moves the place of a target, and queues events for it, at once. A place that another has moved stays as it is. */
  queue(target: string, queued: QueuedEvents): Awaitable<void>;
  /**
   * Takes due events: of each run the first that was not delivered. They are the caller's for `holdMs`, so the events of a run arrive in
   * their order. After that they count as lost with their sender.
   */
  claim(
    target: string,
    how: { readonly limit: number; readonly holdMs: number },
  ): Awaitable<readonly ClaimedDelivery[]>;
  delivered(target: string, id: string): Awaitable<void>;
  failed(target: string, id: string, attempt: FailedAttempt): Awaitable<void>;
  /** Takes up deliveries that were given up. Returns their number. */
  again(target: string): Awaitable<number>;
  /** Open deliveries, oldest first; at most `limit`. */
  list(limit: number): Awaitable<readonly WebhookDelivery[]>;
}

/** An attempt that is due later than this was planned by a clock that has been set back since, ms. */
export const LATEST_ATTEMPT_MS = 6 * 3_600_000;

const SELECT_PLACE = 'SELECT position, since FROM webhook_targets WHERE target = ?';

const INSERT_PLACE =
  'INSERT INTO webhook_targets (target, position, since) VALUES (?, 0, ?) ON CONFLICT DO NOTHING';

const MOVE = 'UPDATE webhook_targets SET position = @to WHERE target = @target AND position = @from';

const INSERT = `
  INSERT INTO webhook_deliveries (target, position, thread_id, event_json, next_at)
  VALUES (@target, @position, @threadId, @eventJson, 0) ON CONFLICT DO NOTHING`;

const SELECT_DUE = `
  SELECT position FROM webhook_deliveries AS d
  WHERE target = @target AND given_up_at IS NULL AND (next_at <= @now OR next_at > @now + ${LATEST_ATTEMPT_MS})
    AND NOT EXISTS (
      SELECT 1 FROM webhook_deliveries AS e
      WHERE e.target = d.target AND e.thread_id = d.thread_id AND e.position < d.position AND e.given_up_at IS NULL)
  ORDER BY position LIMIT @limit`;

const CLAIM = `
  UPDATE webhook_deliveries SET next_at = @now + @holdMs, first_at = coalesce(first_at, @now), attempts = attempts + 1
  WHERE target = @target AND position = @position
  RETURNING event_json AS eventJson, attempts, @now - first_at AS ageMs`;

const DELIVERED = 'DELETE FROM webhook_deliveries WHERE target = ? AND position = ?';

const FAILED = `
  UPDATE webhook_deliveries SET error = @error, next_at = @now + coalesce(@againInMs, 0),
                                given_up_at = iif(@againInMs IS NULL, @now, NULL)
  WHERE target = @target AND position = @position`;

const AGAIN = `
  UPDATE webhook_deliveries SET given_up_at = NULL, first_at = NULL, next_at = 0
  WHERE target = ? AND given_up_at IS NOT NULL`;

const SELECT_ALL = `
  SELECT target, position AS id, thread_id AS threadId, event_json ->> 'name' AS name, attempts, first_at AS firstAt,
         next_at AS nextAt, given_up_at AS givenUpAt, error
  FROM webhook_deliveries ORDER BY position, target LIMIT ?`;

interface ClaimedRow {
  readonly eventJson: string;
  readonly attempts: number;
  readonly ageMs: number;
}

/** Rows of `webhook_targets` and `webhook_deliveries`: deliveries of webhooks. */
export class WebhookStore implements WebhookRows {
  readonly #db: Database;
  readonly #now: () => number;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#db = db;
    this.#now = now;
  }

  place(target: string, leaveOutMs: number): WebhookPlace {
    const select = prepare<[string], { readonly position: number; readonly since: number }>(
      this.#db,
      SELECT_PLACE,
    );
    const known = select.get(target);
    if (known !== undefined) return { after: String(known.position), since: known.since };
    const since = this.#now() - leaveOutMs;
    immediateTransaction(this.#db, () =>
      prepare<[string, number]>(this.#db, INSERT_PLACE).run(target, since),
    );
    return this.place(target, leaveOutMs);
  }

  queue(target: string, { from, to, events }: QueuedEvents): void {
    immediateTransaction(this.#db, () => {
      const place = { target, from: Number(from), to: Number(to) };
      if (prepare<[object]>(this.#db, MOVE).run(place).changes === 0) return;
      for (const event of events)
        prepare<[object]>(this.#db, INSERT).run({
          target,
          position: Number(event.cursor),
          threadId: event.threadId,
          eventJson: JSON.stringify(event),
        });
    });
  }

  claim(
    target: string,
    { limit, holdMs }: { readonly limit: number; readonly holdMs: number },
  ): readonly ClaimedDelivery[] {
    // Asked first: an update takes the file's one write lock, also without a match.
    if (this.#due(target, 1).length === 0) return [];
    const claim = prepare<[object], ClaimedRow>(this.#db, CLAIM);
    const now = this.#now();
    const rows = immediateTransaction(this.#db, () =>
      this.#due(target, limit).flatMap((position) => claim.get({ target, position, now, holdMs }) ?? []),
    );
    return rows.map(({ eventJson, ...row }) => ({ ...row, event: JSON.parse(eventJson) as OutboxEvent }));
  }

  #due(target: string, limit: number): readonly number[] {
    const now = this.#now();
    return prepare<[object], number>(this.#db, SELECT_DUE).pluck().all({ target, now, limit });
  }

  delivered(target: string, id: string): void {
    immediateTransaction(this.#db, () =>
      prepare<[string, number]>(this.#db, DELIVERED).run(target, Number(id)),
    );
  }

  failed(target: string, id: string, { error, againInMs }: FailedAttempt): void {
    const row = { target, position: Number(id), error, againInMs, now: this.#now() };
    immediateTransaction(this.#db, () => prepare<[object]>(this.#db, FAILED).run(row));
  }

  again(target: string): number {
    return immediateTransaction(this.#db, () => prepare<[string]>(this.#db, AGAIN).run(target).changes);
  }

  list(limit: number): readonly WebhookDelivery[] {
    const rows = prepare<[number], Omit<WebhookDelivery, 'id'> & { readonly id: number }>(
      this.#db,
      SELECT_ALL,
    ).all(limit);
    return rows.map((row) => ({ ...row, id: String(row.id) }));
  }
}
