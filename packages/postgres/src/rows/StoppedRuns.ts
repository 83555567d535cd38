import type { Jobs, QueuedRun } from '../jobs/Jobs.ts';
import type { Tables } from '../server/Tables.ts';

/** Runs of one transaction. */
const PORTION = 50;

/** Which failed or paused runs to execute again; all that match all of it. */
export interface StoppedRunFilter {
  readonly id?: string | undefined;
  /** A part of their reason: the code of an error, such as `STATE_IO`, or words of it. @defaultValue any */
  readonly error?: string | undefined;
  /** Those that were paused, and not those that failed. @defaultValue false */
  readonly paused?: boolean | undefined;
  readonly tenant?: string | undefined;
}

/** Executes failed or paused runs again. Recorded steps are not repeated. */
export class StoppedRuns {
  readonly #tables: Tables;
  readonly #jobs: Pick<Jobs, 'wake'>;

  constructor(tables: Tables, jobs: Pick<Jobs, 'wake'>) {
    this.#tables = tables;
    this.#jobs = jobs;
  }

  /** Returns their ids. One that fails again meanwhile is not tried twice. */
  async retry({ id, error, tenant, paused = false }: StoppedRunFilter): Promise<readonly string[]> {
    const [now] = await this.#tables.query<{ at: string }>('SELECT now()::timestamptz(3)::text AS at', []);
    const sql = (paused ? goOnSql : retrySql)(this.#tables.schema);
    const values = [id ?? null, error ?? null, tenant ?? null, now?.at];
    const retried: string[] = [];
    for (let isMore = true; isMore; ) {
      const portion = await this.#tables.transaction(async (client) => {
        const { rows } = await client.query<QueuedRun>(sql, values);
        for (const run of rows) await this.#jobs.wake(client, run);
        return rows;
      });
      retried.push(...portion.map(({ runId }) => runId));
      isMore = portion.length > 0;
    }
    return retried;
  }
}

const matching = (
  status: string,
): string => `status = '${status}' AND owner IS NULL AND updated_at <= $4::timestamptz
    AND ($1::text IS NULL OR run_id = $1) AND ($2::text IS NULL OR position($2 IN reason) > 0)
    AND ($3::text IS NULL OR tenant = $3)
  ORDER BY created_at, run_id LIMIT ${PORTION} FOR UPDATE SKIP LOCKED`;

const RETRIED = 'r.run_id AS "runId", r.queue, r.tenant, r.priority, r.deaths';

/** Clears the end in the row, so that a worker that declines the job keeps it. */
const retrySql = (schema: string): string => `
WITH failed AS (
  SELECT run_id FROM ${schema}.runs WHERE ended_at IS NOT NULL AND ${matching('failed')}
)
UPDATE ${schema}.runs r SET status = 'running', ended_at = NULL, updated_at = clock_timestamp() FROM failed
WHERE r.run_id = failed.run_id RETURNING ${RETRIED}`;

/** Its timer is due: should its job be lost, the leader makes another. */
const goOnSql = (schema: string): string => `
WITH paused AS (
  SELECT run_id FROM ${schema}.runs WHERE ended_at IS NULL AND coalesce(until > now(), true) AND ${matching('paused')}
)
UPDATE ${schema}.runs r SET until = now(), updated_at = clock_timestamp() FROM paused
WHERE r.run_id = paused.run_id RETURNING ${RETRIED}`;
