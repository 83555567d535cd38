import { createHash } from 'node:crypto';
import { query } from './query.ts';

export interface ManyRuns {
  /** The newest; of each thousand one has failed, and has the tag `rare`. */
  readonly ended: number;
  /** Older than all that have ended, each with an open gate. */
  readonly waiting: number;
  /** Size of a run's list data, bytes. @defaultValue 100 */
  readonly viewBytes?: number;
}

/** A tag of half of the runs, and a rare one. */
export const TAGS = { often: 'nightly', rare: 'rare' } as const;
const TENANTS = 20;
/** Rows per statement. */
const BATCH = 50_000;

const labelOf = (tag: string): string =>
  `'\\x${createHash('sha256')
    .update(JSON.stringify([tag]))
    .digest('hex')}'::bytea`;

/** Makes rows as many runs leave them, without the files of the runs. */
export async function fillRuns(url: string, { ended, waiting, viewBytes = 100 }: ManyRuns): Promise<void> {
  for (let from = 0; from < ended; from += BATCH)
    await insertRuns(url, { from, to: Math.min(ended, from + BATCH), viewBytes, isEnded: true });
  await insertRuns(url, { from: ended, to: ended + waiting, viewBytes, isEnded: false });
  await query(
    url,
    `INSERT INTO devs.gates (session_id, run_id, tenant, kind, artifact_hash, gate, status, opened_at)
     SELECT 'gate-' || run_id, run_id, tenant, 'question', 'hash',
       json_build_object('sessionId', 'gate-' || run_id, 'threadId', run_id, 'openedAt', to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
       'open', created_at
     FROM devs.runs WHERE status = 'waiting'`,
  );
  await query(
    url,
    'VACUUM (ANALYZE) devs.runs, devs.gates, devs.run_labels, devs.run_bases, devs.run_counts',
  );
}

interface InsertedRuns {
  readonly from: number;
  readonly to: number;
  readonly viewBytes: number;
  readonly isEnded: boolean;
}

async function insertRuns(url: string, { from, to, viewBytes, isEnded }: InsertedRuns): Promise<void> {
  const status = isEnded ? `CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'completed' END` : `'waiting'`;
  await query(
    url,
    `WITH made AS (
      INSERT INTO devs.runs (run_id, birth, tenant, graph, fingerprint, queue, schema_version, status, view,
        labels, created_at, updated_at, ended_at)
      SELECT 'run-' || n, gen_random_uuid(), 'tenant-' || n % ${TENANTS}, 'mail', repeat(md5('mail'), 2), 'runs.mail.' || left(md5('mail'), 16),
        1, ${status}, to_json(repeat('x', ${viewBytes}))::text, '[]', at, at, CASE WHEN ${isEnded} THEN at END
      FROM (SELECT n, date_trunc('ms', now() - n * interval '1 second') AS at FROM generate_series(${from}, ${to - 1}) n) numbers
      RETURNING run_id, created_at, substring(run_id FROM 5)::int AS n
    ), based AS (
      INSERT INTO devs.run_bases (run_id, seq, part, bytes) SELECT run_id, 0, 0, '\\x00' FROM made
    )
    INSERT INTO devs.run_labels (label, created_at, run_id)
    SELECT ${labelOf(TAGS.often)}, created_at, run_id FROM made WHERE n % 2 = 0
    UNION ALL SELECT ${labelOf(TAGS.rare)}, created_at, run_id FROM made WHERE n % 1000 = 0`,
  );
}
