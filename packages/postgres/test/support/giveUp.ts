import pg from 'pg';
import { BossJobs } from '../../src/jobs/BossJobs.ts';
import { withTransaction } from '../../src/server/pool.ts';

/** Makes a dead letter of the next job of a queue, as if its driver had failed as often as it is tried. Returns the run. */
export async function giveUp(url: string, queue: string, why: Error): Promise<string> {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const jobs = new BossJobs(pool, { schema: 'devs' });
  try {
    const [job] = await jobs.fetch(queue, { limit: 1, caps: new Map() });
    if (job === undefined) throw new Error(`There is no job in ${queue}.`);
    await pool.query('UPDATE devs_boss.job SET retry_limit = 0 WHERE id = $1', [job.jobId]);
    await withTransaction(pool, (client) => jobs.fail(client, job, why));
    return job.runId;
  } finally {
    await jobs.close();
    await pool.end();
  }
}
