import type { Runs } from '@devs/core';
import { bossSchema } from '../jobs/BossJobs.ts';
import { isDeadSql } from '../server/Owner.ts';
import { quoteIdentifier, type Tables } from '../server/Tables.ts';

/** Waiting runs of one queue and its workers. */
export interface QueueLine {
  readonly queue: string;
  /** Jobs that a worker with a free slot would take now. */
  readonly ready: number;
  /** Jobs that are tried again later. */
  readonly later: number;
  readonly active: number;
  /** Age of the oldest ready job in seconds. */
  readonly oldestSeconds: number;
  /** Runs that have not ended. */
  readonly runs: number;
  /** Live workers of this queue, without draining ones. Without a worker, its runs wait. */
  readonly workers: number;
}

/** A process that executes runs. */
export interface WorkerLine {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly slots: number;
  /** Runs that it executes. */
  readonly busy: number;
  readonly queues: readonly string[];
  readonly draining: boolean;
  /** False after its process died, until another worker takes over its runs. */
  readonly isAlive: boolean;
  readonly startedAt: Date;
  readonly seenAt: Date;
}

/** Counts of runs and gates. */
export type RunNumbers = Awaited<ReturnType<Runs['numbers']>>;

/** What of the cluster is dead. */
export interface DeadNumbers {
  readonly deadLetters: number;
  /** Changes that were deleted, and whose room is not free yet. */
  readonly deadRows: number;
}

/** Runs of a tenant and its limit. */
export interface TenantLine {
  readonly tenant: string;
  /** `null`: limited by slots only. */
  readonly cap: number | null;
  readonly driven: number;
  /** Jobs that a worker with a free slot would take now, within the cap. */
  readonly ready: number;
  /** Runs that have not ended. */
  readonly runs: number;
}

interface TenantRow {
  readonly tenant: string;
  readonly cap: number | null;
  readonly driven: string;
  readonly ready: string;
  readonly runs: string;
}

type ClusterRow = Readonly<Record<string, unknown>>;

/** The cluster as it stands, for people and for metrics. Reads; nothing of it is fenced. */
export class ClusterView {
  readonly #tables: Tables;
  readonly #schema: string;
  readonly #jobs: string;

  constructor(tables: Tables) {
    this.#tables = tables;
    this.#schema = tables.schema;
    this.#jobs = `${quoteIdentifier(bossSchema(tables.schemaName))}.job`;
  }

  /** @throws DevsError `STATE_IO` where PostgreSQL does not answer. */
  async ask(): Promise<void> {
    await this.#tables.query('SELECT 1', []);
  }

  /**
   * Every queue that has a job, a run that has not ended, or a worker; by name.
   *
   * @param tenant - Counts the jobs and runs of this tenant; `null` for all.
   */
  async queues(tenant: string | null = null): Promise<readonly QueueLine[]> {
    const rows = await this.#tables.query<ClusterRow>(
      `
WITH jobs AS (
  SELECT name AS queue, count(*) FILTER (WHERE state < 'active' AND start_after <= now()) AS ready,
    count(*) FILTER (WHERE state < 'active' AND start_after > now()) AS later,
    count(*) FILTER (WHERE state = 'active') AS active,
    extract(epoch FROM now() - min(start_after) FILTER (WHERE state < 'active' AND start_after <= now())) AS oldest
  FROM ${this.#jobs} WHERE state <= 'active' AND name LIKE 'runs.%'
    AND ($1::text IS NULL OR group_id = $1) GROUP BY name
), open AS (
  SELECT queue, count(*) AS runs FROM ${this.#schema}.runs WHERE ended_at IS NULL AND ($1::text IS NULL OR tenant = $1)
  GROUP BY queue
), fetching AS (
  SELECT queue, count(*) AS workers FROM ${this.#schema}.workers w, jsonb_array_elements_text(graphs) AS queue
  WHERE NOT draining AND NOT ${isDeadSql('w')} GROUP BY queue
)
SELECT queue, coalesce(ready, 0) AS ready, coalesce(later, 0) AS later, coalesce(active, 0) AS active,
  greatest(coalesce(oldest, 0), 0) AS oldest, coalesce(runs, 0) AS runs, coalesce(workers, 0) AS workers
FROM jobs FULL JOIN open USING (queue) FULL JOIN fetching USING (queue) ORDER BY queue`,
      [tenant],
    );
    return rows.map((row) => ({
      queue: String(row['queue']),
      ready: Number(row['ready']),
      later: Number(row['later']),
      active: Number(row['active']),
      oldestSeconds: Number(row['oldest']),
      runs: Number(row['runs']),
      workers: Number(row['workers']),
    }));
  }

  /** Those of these runs that are a tenant's. */
  async ofTenant(tenant: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const sql = `SELECT run_id FROM ${this.#schema}.runs WHERE run_id = ANY ($1) AND tenant = $2`;
    const rows = await this.#tables.query<{ run_id: string }>(sql, [ids, tenant]);
    return new Set(rows.map(({ run_id }) => run_id));
  }

  /** The oldest first. */
  async workers(): Promise<readonly WorkerLine[]> {
    const rows = await this.#tables.query<ClusterRow>(
      `
SELECT w.*, ${isDeadSql('w')} AS dead, (SELECT count(*) FROM ${this.#schema}.runs r WHERE r.owner = w.worker_id) AS busy
FROM ${this.#schema}.workers w ORDER BY started_at, worker_id`,
      [],
    );
    return rows.map((row) => ({
      id: String(row['worker_id']),
      host: String(row['host']),
      pid: Number(row['pid']),
      slots: Number(row['slots']),
      busy: Number(row['busy']),
      queues: row['graphs'] as readonly string[],
      draining: row['draining'] === true,
      isAlive: row['dead'] === false,
      startedAt: row['started_at'] as Date,
      seenAt: row['seen_at'] as Date,
    }));
  }

  /** Counts open runs by their index, and reads the kept counts of ended ones. */
  async numbers(): Promise<RunNumbers> {
    const schema = this.#schema;
    const ofRuns = this.#tables.query<ClusterRow>(
      `
SELECT tenant, status, count(*) AS n FROM ${schema}.runs WHERE ended_at IS NULL GROUP BY tenant, status
UNION ALL
SELECT tenant, status, sum(n) FROM ${schema}.run_counts GROUP BY tenant, status HAVING sum(n) > 0
ORDER BY tenant, status`,
      [],
    );
    const ofGates = this.#tables.query<ClusterRow>(
      `SELECT tenant, count(*) AS n, extract(epoch FROM now() - min(opened_at)) AS oldest
       FROM ${schema}.gates WHERE status = 'open' GROUP BY tenant ORDER BY tenant`,
      [],
    );
    const [runs, gates] = await Promise.all([ofRuns, ofGates]);
    return {
      runs: runs.map(({ tenant, status, n }) => ({
        tenant: String(tenant),
        status: String(status),
        runs: Number(n),
      })),
      gates: gates.map(({ tenant, n, oldest }) => ({
        tenant: String(tenant),
        open: Number(n),
        oldestSeconds: Math.max(0, Number(oldest ?? 0)),
      })),
    };
  }

  async deadNumbers(): Promise<DeadNumbers> {
    const [row = {}] = await this.#tables.query<ClusterRow>(
      `SELECT (SELECT count(*) FROM ${this.#schema}.runs WHERE given_up IS NOT NULL) AS dead,
         (SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = $1::regclass) AS dead_rows`,
      [`${this.#schema}.run_changes`],
    );
    return { deadLetters: Number(row['dead']), deadRows: Number(row['dead_rows'] ?? 0) };
  }

  /** Every tenant that has a run that has not ended, or a cap; by name. @param tenant - That one alone; `null` for all. */
  async tenants(tenant: string | null = null): Promise<readonly TenantLine[]> {
    const schema = this.#schema;
    const rows = await this.#tables.query<TenantRow>(
      `
WITH open AS (
  SELECT tenant, count(*) AS runs FROM ${schema}.runs WHERE ended_at IS NULL GROUP BY tenant
), held AS (
  SELECT tenant, count(*) AS driven FROM ${schema}.runs WHERE owner IS NOT NULL GROUP BY tenant
), jobs AS (
  SELECT group_id AS tenant, count(*) AS ready FROM ${this.#jobs}
  WHERE state < 'active' AND start_after <= now() AND group_id IS NOT NULL GROUP BY group_id
)
SELECT tenant, cap, coalesce(driven, 0) AS driven, coalesce(ready, 0) AS ready, coalesce(runs, 0) AS runs
FROM open FULL JOIN (SELECT tenant, cap FROM ${schema}.tenants WHERE cap IS NOT NULL) capped USING (tenant)
  LEFT JOIN held USING (tenant) LEFT JOIN jobs USING (tenant)
WHERE $1::text IS NULL OR tenant = $1
ORDER BY tenant`,
      [tenant],
    );
    return rows.map(({ tenant, cap, driven, ready, runs }) => ({
      ...{ tenant, cap },
      driven: Number(driven),
      ready: Number(ready),
      runs: Number(runs),
    }));
  }
}
