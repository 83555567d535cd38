import { DevsError } from '@devs/core';
import type { ClientBase } from 'pg';
import type { Jobs } from '../jobs/Jobs.ts';
import type { Tables } from '../server/Tables.ts';

/** Runs of one transaction. */
const PORTION = 50;

/** Conditions on an ended run `r` that can be deleted. */
const UNNEEDED: readonly string[] = [
  'r.owner IS NULL',
  // Otherwise it has a turn or a message to receive.
  'r.wake_seq = r.handled_seq',
  // A child in its file goes on without it.
  'r.open_children = 0',
  // A dead letter waits for somebody.
  'r.given_up IS NULL',
  // Not every receiver has taken its events.
  'NOT EXISTS (SELECT FROM $.webhook_deliveries w WHERE w.run_id = r.run_id AND w.given_up_at IS NULL)',
  // Somebody reads its stream, or waits for its result.
  'coalesce(r.followed_until < now(), true)',
  `NOT EXISTS (SELECT FROM $.gates g WHERE g.run_id = r.run_id AND g.status <> 'closed')`,
];

/** Which ended runs to delete. */
export interface EndedRunFilter {
  /** Those that ended so long ago, ms. */
  readonly olderThanMs: number;
  /** @defaultValue of all tenants */
  readonly tenant?: string | undefined;
  /** Name of a graph whose runs stay. @defaultValue the runs of every graph are deleted */
  readonly exceptGraph?: string | undefined;
}

/** Runs that matched. */
export interface RemovedRuns {
  readonly removed: number;
  /** Those that are left: of the other graph, or needed. */
  readonly kept: number;
}

/** A portion of a sweep. */
interface SweptRuns {
  readonly runs: number;
  /** Whether the portion was full. */
  readonly isMore: boolean;
}

/** Where a portion ended. */
interface EndedRow {
  readonly run_id: string;
  readonly ended_at: string;
}

/** Counts ended runs, and deletes them after their retention. */
export class EndedRuns {
  readonly #tables: Tables;
  readonly #jobs: Pick<Jobs, 'forget'>;

  constructor(tables: Tables, jobs: Pick<Jobs, 'forget'>) {
    this.#tables = tables;
    this.#jobs = jobs;
  }

  /** Adds up the rows that count ended runs: each end adds one. By one process at a time. */
  async addUp(): Promise<void> {
    await this.#tables.query(addUpSql(this.#tables.schema), []);
  }

  /**
   * Deletes a portion of the runs that ended longer ago than live workers want them to be kept, the longest ago first. It also
   * forgets ids that were deleted as long before that.
   */
  async sweep(): Promise<SweptRuns> {
    const { schema } = this.#tables;
    return this.#tables.transaction(async (client) => {
      await client.query(forgetSql(schema));
      const { rows } = await client.query<EndedRow>(sweepSql(schema));
      return this.#swept(client, rows);
    });
  }

  /** Deletes all that match, in portions, but for those that something needs; the ids are free then. */
  async remove({ olderThanMs, tenant, exceptGraph }: EndedRunFilter): Promise<RemovedRuns> {
    const sql = removeSql(this.#tables.schema);
    let removed = 0;
    let last: EndedRow | null = null;
    do {
      const values: unknown[] = [
        olderThanMs,
        tenant ?? null,
        exceptGraph ?? null,
        last?.ended_at ?? null,
        last?.run_id ?? '',
      ];
      const portion: readonly EndedRow[] = await this.#tables.transaction(async (client) => {
        const { rows } = await client.query<EndedRow>(sql, values);
        await this.#swept(client, rows);
        return rows;
      });
      removed += portion.length;
      last = portion.at(-1) ?? null;
    } while (last !== null);
    const [row] = await this.#tables.query<{ n: string }>(leftSql(this.#tables.schema), [
      olderThanMs,
      tenant ?? null,
    ]);
    return { removed, kept: Number(row?.n ?? 0) };
  }

  async #swept(client: ClientBase, rows: readonly EndedRow[]): Promise<SweptRuns> {
    if (rows.length > 0)
      await this.#jobs.forget(
        client,
        rows.map(({ run_id }) => run_id),
      );
    return { runs: rows.length, isMore: rows.length === PORTION };
  }

  /** The error for a run that was deleted after its time; `null` for an unknown or forgotten id. */
  async notKept(runId: string): Promise<DevsError | null> {
    const sql = `SELECT FROM ${this.#tables.schema}.runs_not_kept WHERE run_id = $1 AND forget_at > now()`;
    const rows = await this.#tables.query(sql, [runId]);
    if (rows.length === 0) return null;
    return new DevsError(`Run "${runId}" was deleted because its retention was over.`, {
      code: 'NOT_KEPT',
      remedy: 'Start a run with another id, or raise `retention` of `postgres()` for runs to come.',
      context: { threadId: runId },
    });
  }
}

const unneeded = (schema: string): string => UNNEEDED.join(' AND ').replaceAll('$', schema);

const addUpSql = (schema: string): string => `
WITH many AS (
  SELECT tenant, status FROM ${schema}.run_counts GROUP BY tenant, status HAVING count(*) > 1
), gone AS (
  DELETE FROM ${schema}.run_counts c USING many m WHERE c.tenant = m.tenant AND c.status = m.status
  RETURNING c.tenant, c.status, c.n
)
INSERT INTO ${schema}.run_counts (tenant, status, n)
SELECT tenant, status, sum(n) FROM gone GROUP BY tenant, status HAVING sum(n) <> 0`;

const forgetSql = (schema: string): string => `
DELETE FROM ${schema}.runs_not_kept WHERE run_id IN (
  SELECT run_id FROM ${schema}.runs_not_kept WHERE forget_at <= now() ORDER BY forget_at LIMIT ${2 * PORTION} FOR UPDATE SKIP LOCKED)`;

const sweepSql = (schema: string): string => `
WITH kept AS (
  SELECT max(retention_ms) * interval '1 ms' AS time FROM ${schema}.workers WHERE NOT draining
), old AS (
  SELECT r.run_id, r.ended_at FROM ${schema}.runs r
  WHERE r.ended_at < now() - (SELECT time FROM kept) AND ${unneeded(schema)}
  ORDER BY r.ended_at, r.run_id LIMIT ${PORTION} FOR UPDATE SKIP LOCKED
), noted AS (
  INSERT INTO ${schema}.runs_not_kept (run_id, forget_at) SELECT run_id, now() + time FROM old, kept
  ON CONFLICT (run_id) DO UPDATE SET forget_at = excluded.forget_at
)
DELETE FROM ${schema}.runs r USING old WHERE r.run_id = old.run_id RETURNING r.run_id, r.ended_at::text`;

const OLD = `r.ended_at < now() - $1::float8 * interval '1 ms' AND ($2::text IS NULL OR r.tenant = $2)`;

const leftSql = (schema: string): string => `SELECT count(*) AS n FROM ${schema}.runs r WHERE ${OLD}`;

const removeSql = (schema: string): string => `
WITH old AS (
  SELECT r.run_id, r.ended_at FROM ${schema}.runs r
  WHERE ${OLD}
    AND ($3::text IS NULL OR r.graph <> $3)
    AND (r.ended_at, r.run_id) > (coalesce($4::timestamptz, '-infinity'), $5) AND ${unneeded(schema)}
  ORDER BY r.ended_at, r.run_id LIMIT ${PORTION} FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM ${schema}.runs r USING old WHERE r.run_id = old.run_id RETURNING r.run_id, r.ended_at
)
SELECT run_id, ended_at::text FROM gone ORDER BY gone.ended_at, run_id`;
