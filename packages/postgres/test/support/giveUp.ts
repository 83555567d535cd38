import { BossJobs } from '../../src/jobs/BossJobs.ts';
import { MAX_RETRIES } from '../../src/jobs/Jobs.ts';
import { Leases } from '../../src/rows/Leases.ts';
import { poolOf } from '../../src/server/pool.ts';
import { Tables } from '../../src/server/Tables.ts';

/** Makes a dead letter of the next job of a queue, as if its driver had failed as often as it is tried. Returns the run. */
export async function giveUp(url: string, queue: string, why: Error): Promise<string> {
  const pool = poolOf({ connectionString: url, max: 2 });
  const jobs = new BossJobs(pool, { schema: 'devs' });
  const patience = { awayMs: 0, onAway: () => undefined };
  const leases = new Leases(new Tables(pool, { schema: 'devs', patience, isPooled: true }), jobs);
  try {
    const [job] = await jobs.fetch(queue, { limit: 1, caps: new Map() });
    if (job === undefined) throw new Error(`There is no job in ${queue}.`);
    await pool.query('UPDATE devs.runs SET failures = $2 WHERE run_id = $1', [job.runId, MAX_RETRIES]);
    await leases.failed(job, why);
    return job.runId;
  } finally {
    await jobs.close();
    await pool.end();
  }
}
