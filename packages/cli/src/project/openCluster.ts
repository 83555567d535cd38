import type { ClusterAdmin, PostgresRuns } from '@devs/postgres';
import { type ClusterAt, DATABASE_URL } from '../cluster/ClusterAt.ts';
import { loadPostgres } from '../cluster/loadPostgres.ts';
import { usageError } from '../usageError.ts';
import type { Session } from './Session.ts';

/** @throws DevsError `CONFIG_INVALID` where none is named. */
export function namedCluster({ cluster }: Session): ClusterAt {
  if (cluster !== null) return cluster;
  throw usageError(
    'The cluster is missing.',
    `Name it with --db postgres://user@host/database, or in ${DATABASE_URL}.`,
  );
}

/**
 * Connects to the cluster that is named, and ends the connection when `work` is done.
 *
 * @throws DevsError `CONFIG_INVALID` where none is named, or what knows clusters is not installed; those of `ClusterAdmin`.
 */
export async function withAdmin<Result>(
  session: Session,
  work: (admin: ClusterAdmin, at: ClusterAt) => Promise<Result>,
): Promise<Result> {
  const at = namedCluster(session);
  const { ClusterAdmin } = await loadPostgres();
  const admin = new ClusterAdmin({ ...at, ...patience(session) });
  try {
    return await work(admin, at);
  } finally {
    await admin.close();
  }
}

/** How long who waits at a terminal is kept waiting for PostgreSQL, ms. */
const AWAY_MS = 10_000;

/** The runs of a cluster. Its tables are there: only devs migrate makes them from the command line. */
export async function clusterRuns({ url, schema }: ClusterAt, session: Session): Promise<PostgresRuns> {
  const { postgres } = await loadPostgres();
  return postgres({ url, schema, migrate: false, ...patience(session) });
}

const patience = ({ out }: Session) => ({
  awayMs: AWAY_MS,
  onAway: (why: unknown): void =>
    out.note(why === null ? 'PostgreSQL is reachable again' : 'PostgreSQL is unreachable'),
});
