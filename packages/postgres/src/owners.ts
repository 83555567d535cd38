import { DEAD_AFTER_MS } from './Owner.ts';

/**
 * Whether a row of `workers` is of somebody dead: his session has let go of its lock, or he has not been heard of for long. After
 * a start of the server everybody has time to come back.
 *
 * @param worker - Name of the row in the statement.
 */
export const isDeadSql = (worker: string): string => `(
  pg_postmaster_start_time() < now() - interval '5 s' AND (
    ${worker}.seen_at < now() - interval '${DEAD_AFTER_MS} ms' OR NOT EXISTS (
      SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid::bigint = (${worker}.lock_key >> 32) AND l.objid::bigint = (${worker}.lock_key & 4294967295))))`;

/** Whether he is alive whom the column `owner` names. */
export const isLiveSql = (schema: string): string =>
  `EXISTS (SELECT 1 FROM ${schema}.workers w WHERE w.worker_id = owner AND NOT ${isDeadSql('w')})`;
