import { DevsError } from '@devs/core';
import { bossSchema } from '../jobs/BossJobs.ts';
import { isDeadSql, isLiveSql } from '../server/Owner.ts';
import { quoteIdentifier, type Tables } from '../server/Tables.ts';

/** Status of a run in a cluster, with the reasons why it waits. Times are ISO 8601, UTC. */
export interface RunStanding {
  readonly id: string;
  readonly tenant: string;
  readonly queue: string;
  readonly status: string;
  readonly reason: string | null;
  readonly updatedAt: string;
  /** The process that has it, the time of its claim, and whether it lives; `null` without one. */
  readonly holder: {
    readonly worker: string;
    readonly since: string | null;
    readonly isAlive: boolean;
  } | null;
  /** Processes that died with it since it made progress. */
  readonly deaths: number;
  /** Its job: when it is to be fetched, the attempts before, and the error of the last one. */
  readonly job: QueuedAttempt | null;
  /** Why it was given up; `null` if it was not. */
  readonly givenUp: string | null;
  /** Ids of its open gates, oldest first. */
  readonly gates: readonly string[];
  /** When its timer is due. */
  readonly until: string | null;
  /** Signals and decisions that it has not received. */
  readonly untaken: number;
  /** Live workers of its queue, and jobs in it that are ready. */
  readonly workers: number;
  readonly ready: number;
  /** Limit of its tenant, and runs of the tenant that execute. */
  readonly cap: number | null;
  readonly executing: number;
}

interface QueuedAttempt {
  readonly state: 'ready' | 'later' | 'active';
  readonly at: string;
  readonly attempts: number;
  readonly error: string | null;
}

/** @throws DevsError `THREAD_NOT_FOUND`, `STATE_IO` */
export async function readStanding(tables: Tables, id: string): Promise<RunStanding> {
  const { schema, schemaName } = tables;
  const jobs = `${quoteIdentifier(bossSchema(schemaName))}.job`;
  const [row] = await tables.query<{ standing: RunStanding }>(standingSql(schema, jobs), [id]);
  if (row !== undefined) return row.standing;
  throw new DevsError(`There is no run "${id}".`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'List the runs to find the right id.',
    context: { threadId: id },
  });
}

const iso = (time: string): string => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const standingSql = (schema: string, jobs: string): string => `
SELECT json_build_object(
  'id', run_id, 'tenant', r.tenant, 'queue', queue, 'status', status, 'reason', reason, 'updatedAt', ${iso('updated_at')},
  'holder', CASE WHEN owner IS NOT NULL THEN
    json_build_object('worker', owner, 'since', ${iso('claimed_at')}, 'isAlive', ${isLiveSql(schema)}) END,
  'deaths', deaths,
  'job', (SELECT json_build_object(
      'state', CASE WHEN j.state = 'active' THEN 'active' WHEN j.start_after > now() THEN 'later' ELSE 'ready' END,
      'at', ${iso('j.start_after')}, 'attempts', j.retry_count, 'error', j.output ->> 'error')
    FROM ${jobs} j WHERE j.name = r.queue AND j.data ->> 'runId' = r.run_id AND j.state <= 'active' LIMIT 1),
  'givenUp', CASE WHEN given_up IS NOT NULL THEN coalesce(reason, '') END,
  'gates', ARRAY(SELECT session_id FROM ${schema}.gates g WHERE g.run_id = r.run_id AND g.status = 'open' ORDER BY opened_at, session_id),
  'until', ${iso('until')},
  'untaken', (SELECT count(*) FROM ${schema}.signals s WHERE s.run_id = r.run_id AND s.seq > handled_seq),
  'workers', (SELECT count(*) FROM ${schema}.workers w WHERE NOT w.draining AND w.graphs ? r.queue AND NOT ${isDeadSql('w')}),
  'ready', (SELECT count(*) FROM ${jobs} j WHERE j.name = r.queue AND j.state < 'active' AND j.start_after <= now()),
  'cap', (SELECT cap FROM ${schema}.tenants t WHERE t.tenant = r.tenant),
  'executing', (SELECT count(*) FROM ${schema}.runs o WHERE o.tenant = r.tenant AND o.owner IS NOT NULL)
) AS standing FROM ${schema}.runs r WHERE run_id = $1`;
