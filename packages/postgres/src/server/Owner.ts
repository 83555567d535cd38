/** Who has not been heard of for so long is dead: the server ends his session, and whoever reaps goes by it, too. */
export const DEAD_AFTER_MS = 10_000;

/**
 * A process that holds runs, as others know it: a row of `workers`, and a lock that its one direct connection has as long as
 * it lives. Who has lost the lock, or has not written `seen_at` for ten seconds, is dead: its runs are taken by others.
 */
export interface Owner {
  /** `workers.worker_id`: what `runs.owner` says. */
  readonly id: string;
  /** Resolves when the row, the lock and the channels are there; at once where they are. @throws DevsError `STATE_IO` */
  ready(): Promise<void>;
  /**
   * Tells of every notification of a channel, and of each new connection (`null`): what was said before it was not heard.
   * Returns the way to end that.
   */
  listen(channel: string, tell: (payload: string | null) => void): () => void;
  /** Lets go of the lock and the row. */
  close(): Promise<void>;
}

/**
 * Channels of the database, of one schema each: their payload is the id of a run that was told something; a queue that has a
 * job; the id of a run of which something is new.
 */
export const toldChannel = (schema: string): string => `${schema}_told`;
export const jobsChannel = (schema: string): string => `${schema}_jobs`;
export const newsChannel = (schema: string): string => `${schema}_news`;
/** Words of models in a run; the id of a run that somebody hears. */
export const wordsChannel = (schema: string): string => `${schema}_words`;
export const heardChannel = (schema: string): string => `${schema}_heard`;

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
