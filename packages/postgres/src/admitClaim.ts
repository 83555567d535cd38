import type { ClientBase } from 'pg';
import type { BossJobs, FetchedJob } from './BossJobs.ts';
import type { QueuedRun } from './Jobs.ts';
import { quoted } from './schema.ts';
import { takePlace } from './tenantPlaces.ts';

export interface ClaimTerms {
  readonly schema: string;
  readonly jobs: BossJobs;
  /** The newest tables of a file that this release reads. */
  readonly schemaVersion: number;
}

interface Row {
  readonly queue: string;
  readonly tenant: string;
  readonly priority: number;
  readonly owner: string | null;
  readonly schema_version: number;
  readonly ended_at: Date | null;
}

/** What this worker cannot take now is looked at again after, ms. */
const LATER_MS = 1000;

/**
 * Whether the run of a job may be claimed, in the transaction that claims it: its row is locked, and its tenant's place is
 * taken. Else `null`, and the job is done with: gone where nothing is to be driven (the run has ended, or who holds it looks
 * again when he settles, and who is dead is reaped), or back in its queue where the tenant has no place, or the file is newer
 * than this release.
 */
export async function admitClaim(
  client: ClientBase,
  job: FetchedJob,
  { schema, jobs, schemaVersion }: ClaimTerms,
): Promise<QueuedRun | null> {
  const { rows } = await client.query<Row>(
    `SELECT queue, tenant, priority, owner, schema_version, ended_at FROM ${quoted(schema)}.runs WHERE run_id = $1 FOR UPDATE`,
    [job.runId],
  );
  const [row] = rows;
  const run = { runId: job.runId, queue: job.queue, tenant: row?.tenant ?? '', priority: row?.priority ?? 0 };
  if (row === undefined || row.owner !== null || row.ended_at !== null || row.queue !== job.queue) {
    await jobs.complete(client, run, job.jobId);
    return null;
  }
  const fits = row.schema_version <= schemaVersion;
  if (fits && (await takePlace(client, { schema, tenant: row.tenant }))) return run;
  await jobs.putBack(client, run, job.jobId, LATER_MS);
  return null;
}
