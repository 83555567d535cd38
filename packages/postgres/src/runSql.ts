// SQL of RunRows.

import { ENDED_STATUSES } from '@devs/core/internal';
import { gatesSql } from './gateRows.ts';
import { MAX_DEATHS } from './Jobs.ts';
import { isDeadSql } from './owners.ts';

const ENDED_SQL = `(${ENDED_STATUSES.map((status) => `'${status}'`).join(', ')})`;

/** How long what a run has taken is known to be told: who did not hear that it was says it again until then. */
const KNOWN_AFTER = '1 hour';
/** Of what was taken by any run, with one that is let go of: more than one is told meanwhile. */
const SWEPT = 100;

export const createSql = (schema: string): string => `
WITH held AS (
  INSERT INTO ${schema}.runs
    (run_id, birth, tenant, graph, fingerprint, queue, schema_version, priority, status, reason, title, view, ended_at)
  SELECT $1, $2::uuid, $3, $4, $5, $6, $7::int, $8::int, $9::text, $10, $11, $12, CASE WHEN $9 IN ${ENDED_SQL} THEN now() END
  ON CONFLICT DO NOTHING
  RETURNING run_id, tenant, true AS has_gates
), ${gatesSql(schema, { json: '$13', reopens: true })}
SELECT run_id FROM held`;

export const claimSql = (schema: string): string => `
WITH run AS (
  SELECT *, CASE
    WHEN schema_version > $5 THEN 'newer'
    WHEN owner <> $2 AND NOT coalesce((SELECT ${isDeadSql('w')} FROM ${schema}.workers w WHERE w.worker_id = owner), true) THEN 'busy'
    WHEN NOT $7 AND died > 0 THEN 'suspect'
    WHEN $4::uuid IS NOT NULL AND died >= ${MAX_DEATHS} THEN 'given up'
  END AS refused
  FROM (
    SELECT *, deaths + CASE WHEN owner <> $2 THEN 1 ELSE 0 END AS died FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE
  ) found
), room AS (
  UPDATE ${schema}.tenants t SET running = t.running + 1 FROM run
  WHERE t.tenant = run.tenant AND run.refused IS NULL AND run.owner IS NULL
    AND (NOT $6 OR t.cap IS NULL OR t.running < t.cap)
  RETURNING t.tenant
), claimed AS (
  UPDATE ${schema}.runs r SET epoch = r.epoch + 1, owner = $2, lease = $3::uuid, job_id = $4::uuid,
    deaths = run.died, schema_version = $5, claimed_at = now(), updated_at = now()
  FROM run WHERE r.run_id = run.run_id AND run.refused IS NULL
    AND (run.owner IS NOT NULL OR EXISTS (SELECT 1 FROM room)
      OR NOT EXISTS (SELECT 1 FROM ${schema}.tenants t WHERE t.tenant = run.tenant))
  RETURNING r.epoch
)
SELECT CASE WHEN refused IS NOT NULL THEN refused WHEN claimed.epoch IS NULL THEN 'full' END AS not,
  claimed.epoch, queue, tenant, priority, died AS deaths
FROM run LEFT JOIN claimed ON true`;

export const tellSql = (schema: string): string => `
WITH told AS (
  UPDATE ${schema}.runs SET wake_seq = wake_seq + 1, updated_at = now() WHERE run_id = $1 AND wake_seq = $2
  RETURNING run_id, wake_seq, queue, tenant, priority, deaths
), decided AS (
  UPDATE ${schema}.gates g SET status = 'decided', decided_at = now() FROM told
  WHERE g.session_id = $5 AND g.run_id = told.run_id AND g.artifact_hash = $6 AND g.status = 'open'
  RETURNING g.session_id
), recorded AS (
  INSERT INTO ${schema}.signals (run_id, seq, id, signal)
  SELECT run_id, wake_seq, $3, $4 FROM told WHERE $5::text IS NULL OR EXISTS (SELECT 1 FROM decided)
  ON CONFLICT DO NOTHING RETURNING run_id
)
SELECT queue, tenant, priority, deaths FROM told JOIN recorded USING (run_id)`;

export const signalsSql = (schema: string): string =>
  `SELECT seq, signal FROM ${schema}.signals WHERE run_id = $1 AND seq > $2 ORDER BY seq`;

/** A timer is a column with an index, not a job: thousands of gates have a deadline, and a fetch reads every job that is not due. */
export const settleSql = (schema: string): string => `
WITH held AS (
  UPDATE ${schema}.runs r SET status = $5, reason = $6, title = $7, view = $8, handled_seq = $4, settled = lease,
    owner = NULL, lease = NULL, job_id = NULL, until = to_timestamp($9::float8 / 1000),
    base_seq = CASE WHEN $11 THEN $3::bigint ELSE base_seq END, listed_seq = $3::bigint, updated_at = now(),
    graph = coalesce($12, graph), fingerprint = coalesce($13, fingerprint), queue = $14,
    ended_at = CASE WHEN $5 IN ${ENDED_SQL} THEN coalesce(ended_at, now()) END
  FROM (SELECT run_id, job_id AS job FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE) was
  WHERE r.run_id = was.run_id AND r.lease = $2::uuid AND r.head_seq = $3::bigint AND r.wake_seq = $4::bigint
  RETURNING r.run_id, r.tenant, r.deaths, true AS has_gates, was.job
), ${gatesSql(schema, { json: '$10', reopens: true })}, taken AS (
  UPDATE ${schema}.signals s SET taken_at = now() FROM held WHERE s.run_id = held.run_id AND s.taken_at IS NULL
), swept AS (
  DELETE FROM ${schema}.signals WHERE (run_id, seq) IN (
    SELECT run_id, seq FROM ${schema}.signals WHERE taken_at < now() - interval '${KNOWN_AFTER}'
    LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED
  ) AND EXISTS (SELECT 1 FROM held)
), room AS (
  UPDATE ${schema}.tenants t SET running = t.running - 1 FROM held WHERE t.tenant = held.tenant
)
SELECT job AS job_id, deaths FROM held`;

export const removeSql = (schema: string): string => `
WITH gone AS (
  DELETE FROM ${schema}.runs WHERE run_id = $1 AND lease = $2::uuid AND head_seq = $3::bigint AND wake_seq = $4::bigint
  RETURNING tenant, job_id
), room AS (
  UPDATE ${schema}.tenants t SET running = t.running - 1 FROM gone WHERE t.tenant = gone.tenant
)
SELECT job_id FROM gone`;

export const freeSql = (schema: string): string => `
WITH held AS (
  UPDATE ${schema}.runs r SET owner = NULL, lease = NULL, job_id = NULL, updated_at = now()
  FROM (SELECT run_id, job_id AS job FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE) was
  WHERE r.run_id = was.run_id AND r.lease = $2::uuid
  RETURNING r.tenant, r.deaths, was.job
), room AS (
  UPDATE ${schema}.tenants t SET running = t.running - 1 FROM held WHERE t.tenant = held.tenant
)
SELECT job AS job_id, deaths FROM held`;
