import type { Runs } from '@devs/core';
import type { Tables } from '../server/Tables.ts';

type Port = Runs['schedules'];
type Schedule = Awaited<ReturnType<Port['list']>>[number];

interface Row {
  readonly id: string;
  readonly graph: string;
  readonly times: string;
  readonly given: string;
  readonly created_at: Date;
  readonly next_at: Date | null;
  readonly firing_at: Date | null;
  readonly last_at: Date | null;
  readonly last_run: string | null;
  readonly error: string | null;
}

/** Schedules, by the clock of the server. Each statement may be made twice. */
export class ScheduleRows implements Port {
  readonly #tables: Tables;
  readonly #ready: () => Promise<void>;

  /** @param ready - Resolves when the tables can be used. */
  constructor(tables: Tables, ready: () => Promise<void>) {
    this.#tables = tables;
    this.#ready = ready;
  }

  /** @param sql - With `~` for the schema. */
  async #query<Result extends object>(sql: string, values: readonly unknown[]): Promise<readonly Result[]> {
    await this.#ready();
    return this.#tables.query<Result>(sql.replaceAll('~', this.#tables.schema), values);
  }

  async now(): Promise<number> {
    const [row] = await this.#query<{ readonly now: Date }>('SELECT now()::timestamptz(3) AS now', []);
    return (row as { readonly now: Date }).now.getTime();
  }

  async get(id: string): Promise<Schedule | null> {
    const [row] = await this.#query<Row>('SELECT * FROM ~.schedules WHERE id = $1', [id]);
    return row === undefined ? null : fromRow(row);
  }

  async put({ id, graph, times, given, createdAt, nextAt }: Parameters<Port['put']>[0]): Promise<void> {
    await this.#query(
      `INSERT INTO ~.schedules (id, graph, times, given, created_at, next_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (id) DO UPDATE SET graph = excluded.graph, times = excluded.times, given = excluded.given,
                                      created_at = excluded.created_at, next_at = excluded.next_at`,
      [id, graph, JSON.stringify(times), JSON.stringify(given), timeOf(createdAt), timeOf(nextAt)],
    );
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#query('DELETE FROM ~.schedules WHERE id = $1 RETURNING id', [id])).length > 0;
  }

  async list(limit: number, graph: string | null = null): Promise<readonly Schedule[]> {
    const rows = await this.#query<Row>(
      'SELECT * FROM ~.schedules WHERE $2::text IS NULL OR graph = $2 ORDER BY id LIMIT $1',
      [limit, graph],
    );
    return rows.map(fromRow);
  }

  async due(graph: string): Promise<readonly Schedule[]> {
    const rows = await this.#query<Row>(
      `SELECT * FROM ~.schedules WHERE graph = $1 AND (next_at <= now() OR firing_at IS NOT NULL) ORDER BY next_at`,
      [graph],
    );
    return rows.map(fromRow);
  }

  async advance(id: string, { from, to, fires }: Parameters<Port['advance']>[1]): Promise<boolean> {
    const rows = await this.#query(
      `UPDATE ~.schedules SET next_at = $3, firing_at = CASE WHEN $4::boolean THEN $2::timestamptz END
       WHERE id = $1 AND next_at = $2::timestamptz AND firing_at IS NULL RETURNING id`,
      [id, timeOf(from), timeOf(to), fires],
    );
    return rows.length > 0;
  }

  async fired(id: string, { firingAt, run, error }: Parameters<Port['fired']>[1]): Promise<void> {
    await this.#query(
      `UPDATE ~.schedules SET firing_at = NULL, error = $4, last_run = coalesce($3, last_run),
                              last_at = CASE WHEN $3::text IS NULL THEN last_at ELSE $2::timestamptz END
       WHERE id = $1 AND firing_at = $2::timestamptz`,
      [id, timeOf(firingAt), run, error?.replaceAll('\0', '') ?? null],
    );
  }
}

const timeOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

const fromRow = ({ times, given, ...row }: Row): Schedule => ({
  ...{ id: row.id, graph: row.graph, lastRun: row.last_run, error: row.error },
  times: JSON.parse(times) as Schedule['times'],
  given: JSON.parse(given) as Schedule['given'],
  createdAt: row.created_at.getTime(),
  nextAt: row.next_at?.getTime() ?? null,
  firingAt: row.firing_at?.getTime() ?? null,
  lastAt: row.last_at?.getTime() ?? null,
});
