/** A worker that has not said that it lives for so long is frozen, seconds. */
export const FROZEN_SECONDS = 10;

/**
 * Whether a row of `workers` is of somebody dead: its session has let go of its lock, or it is frozen.
 *
 * @param worker - Name of the row in the statement.
 */
export const isDeadSql = (worker: string): string => `(
  ${worker}.seen_at < now() - interval '${FROZEN_SECONDS} s' OR NOT EXISTS (
    SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND l.classid::bigint = (${worker}.lock_key >> 32) AND l.objid::bigint = (${worker}.lock_key & 4294967295)))`;
