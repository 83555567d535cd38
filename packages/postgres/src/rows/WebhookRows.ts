import type { Runs } from '@devs/core';
import type { Tables } from '../server/Tables.ts';

type Port = Runs['webhooks'];
type Place = Awaited<ReturnType<Port['place']>>;
type Claimed = Awaited<ReturnType<Port['claim']>>[number];
type Delivery = Awaited<ReturnType<Port['list']>>[number];

interface ClaimedRow {
  readonly event: string;
  readonly attempts: number;
  readonly age_ms: number;
}

interface DeliveryRow {
  readonly target: string;
  readonly position: string;
  readonly run_id: string;
  readonly event: string;
  readonly attempts: number;
  readonly first_at: Date | null;
  readonly next_at: Date;
  readonly given_up_at: Date | null;
  readonly error: string | null;
}

const inMs = (parameter: string): string => `${parameter}::double precision * interval '1 millisecond'`;

/** Deliveries of webhooks, by the clock of the server. Each statement may be made twice. */
export class WebhookRows implements Port {
  readonly #tables: Tables;
  readonly #ready: () => Promise<void>;

  /** @param ready - Resolves when the tables can be used. */
  constructor(tables: Tables, ready: () => Promise<void>) {
    this.#tables = tables;
    this.#ready = ready;
  }

  /** @param sql - With `~` for the schema. */
  async #query<Row extends object>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    await this.#ready();
    return this.#tables.query<Row>(sql.replaceAll('~', this.#tables.schema), values);
  }

  async place(target: string, leaveOutMs: number): Promise<Place> {
    const [row] = await this.#query<{ readonly position: string; readonly since: Date }>(
      'SELECT position, since FROM ~.webhook_targets WHERE target = $1',
      [target],
    );
    if (row !== undefined) return { after: row.position, since: row.since.getTime() };
    await this.#query(
      `INSERT INTO ~.webhook_targets (target, since) VALUES ($1, now() - ${inMs('$2')}) ON CONFLICT DO NOTHING`,
      [target, leaveOutMs],
    );
    return this.place(target, leaveOutMs);
  }

  async queue(target: string, { from, to, events }: Parameters<Port['queue']>[1]): Promise<void> {
    const rows = events.map((event) => ({
      position: event.cursor,
      run_id: event.threadId,
      event: JSON.stringify(event),
    }));
    // A run that was deleted since takes its events along.
    await this.#query(
      `WITH moved AS (
         UPDATE ~.webhook_targets SET position = $3::bigint WHERE target = $1 AND position = $2::bigint RETURNING target
       )
       INSERT INTO ~.webhook_deliveries (target, position, run_id, event)
       SELECT moved.target, e.position, e.run_id, e.event
       FROM moved, json_to_recordset($4::json) AS e (position bigint, run_id text, event text)
       JOIN ~.runs USING (run_id)
       ON CONFLICT DO NOTHING`,
      [target, from, to, JSON.stringify(rows)],
    );
  }

  async claim(target: string, { limit, holdMs }: Parameters<Port['claim']>[1]): Promise<readonly Claimed[]> {
    const rows = await this.#query<ClaimedRow>(
      `WITH due AS (
         SELECT d.position FROM ~.webhook_deliveries d
         WHERE d.target = $1 AND d.given_up_at IS NULL
           AND (d.next_at <= now() OR d.next_at > now() + interval '6 hours')
           AND NOT EXISTS (
             SELECT FROM ~.webhook_deliveries e
             WHERE e.target = d.target AND e.run_id = d.run_id AND e.position < d.position AND e.given_up_at IS NULL)
         ORDER BY d.position LIMIT $2 FOR UPDATE SKIP LOCKED
       )
       UPDATE ~.webhook_deliveries d
       SET next_at = now() + ${inMs('$3')}, first_at = coalesce(d.first_at, now()), attempts = d.attempts + 1
       FROM due WHERE d.target = $1 AND d.position = due.position
       RETURNING d.event, d.attempts, round(extract(epoch FROM now()::timestamptz(3) - d.first_at) * 1000)::double precision AS age_ms`,
      [target, limit, holdMs],
    );
    return rows
      .map(({ event, attempts, age_ms: ageMs }) => ({
        event: JSON.parse(event) as Claimed['event'],
        ...{ attempts, ageMs },
      }))
      .sort((a, b) => Number(a.event.cursor) - Number(b.event.cursor));
  }

  async delivered(target: string, id: string): Promise<void> {
    await this.#query('DELETE FROM ~.webhook_deliveries WHERE target = $1 AND position = $2::bigint', [
      target,
      id,
    ]);
  }

  async failed(
    target: string,
    id: string,
    { error, againInMs }: Parameters<Port['failed']>[2],
  ): Promise<void> {
    await this.#query(
      `UPDATE ~.webhook_deliveries
       SET error = $3, next_at = now() + ${inMs('coalesce($4, 0)')},
           given_up_at = CASE WHEN $4::double precision IS NULL THEN now() END
       WHERE target = $1 AND position = $2::bigint`,
      [target, id, error.replaceAll('\0', ''), againInMs],
    );
  }

  async again(target: string): Promise<number> {
    const rows = await this.#query(
      `UPDATE ~.webhook_deliveries SET given_up_at = NULL, first_at = NULL, next_at = 'epoch'
       WHERE target = $1 AND given_up_at IS NOT NULL RETURNING position`,
      [target],
    );
    return rows.length;
  }

  async list(limit: number): Promise<readonly Delivery[]> {
    const rows = await this.#query<DeliveryRow>(
      'SELECT * FROM ~.webhook_deliveries ORDER BY position, target LIMIT $1',
      [limit],
    );
    return rows.map((row) => ({
      ...{ target: row.target, id: row.position, threadId: row.run_id, attempts: row.attempts },
      name: (JSON.parse(row.event) as Claimed['event']).name,
      firstAt: row.first_at?.getTime() ?? null,
      nextAt: row.next_at.getTime(),
      givenUpAt: row.given_up_at?.getTime() ?? null,
      error: row.error,
    }));
  }
}
