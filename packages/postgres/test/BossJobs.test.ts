import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BossJobs, type FetchedJob, migrateJobs } from '../src/jobs/BossJobs.ts';
import type { QueuedRun } from '../src/jobs/Jobs.ts';
import { poolOf } from '../src/server/pool.ts';
import { Tables } from '../src/server/Tables.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';

let server: PostgresServer;
let pool: pg.Pool;
let own: pg.Pool;
let jobs: BossJobs;
let tables: Tables;

beforeAll(async () => {
  server = await startPostgres();
  pool = poolOf({ connectionString: server.url, max: 4 });
  own = poolOf({ connectionString: server.url, max: 1 });
  await Promise.all([migrateJobs(pool, 'devs'), migrateJobs(pool, 'devs')]);
  tables = new Tables(pool, {
    schema: 'devs',
    patience: { awayMs: 0, onAway: () => undefined },
    isPooled: false,
  });
  jobs = new BossJobs(own, { schema: 'devs' });
});

afterAll(async () => {
  await jobs.close();
  await own.end();
  await pool.end();
  await server.stop();
});

let queues = 0;
async function aQueue(): Promise<string> {
  queues += 1;
  const queue = `runs.q.${queues}`;
  await jobs.openQueue(queue);
  return queue;
}

const run = (queue: string, runId: string, { tenant = 't', priority = 0, deaths = 0 } = {}): QueuedRun => ({
  ...{ queue, runId, tenant, priority, deaths, slots: 1 },
});
const wake = (each: QueuedRun) => tables.transaction((client) => jobs.wake(client, each));
/** The runs of one fetch: which they are has an order, they among themselves have none. */
const fetched = async (queue: string, limit = 10, caps = new Map<string, number>()) => {
  const all = await jobs.fetch(queue, { limit, caps });
  return all.map(({ runId }) => runId).toSorted();
};
const next = async (queue: string): Promise<FetchedJob> => {
  const [job] = await jobs.fetch(queue, { limit: 1, caps: new Map() });
  if (job === undefined) throw new Error('nothing to fetch');
  return job;
};

describe('jobs of runs', () => {
  test('are one per run, while it waits and while it is in hand', async () => {
    const queue = await aQueue();
    for (const id of ['a', 'b', 'a']) await wake(run(queue, id));
    const a = await next(queue);
    await wake(run(queue, 'a'));
    expect(await fetched(queue)).toEqual(['b']);
    await tables.transaction((client) => jobs.complete(client, a, a.jobId));
    await wake(run(queue, 'a'));
    expect(await fetched(queue)).toEqual(['a']);
  });

  test('are there with the transaction that sends them, or not at all', async () => {
    const queue = await aQueue();
    const sent = tables.transaction(async (client) => {
      await jobs.wake(client, run(queue, 'a'));
      throw new Error('undone');
    });
    await expect(sent).rejects.toThrow('undone');
    expect(await fetched(queue)).toEqual([]);
  });

  test('are told of when they are there', async () => {
    const queue = await aQueue();
    const client = await pool.connect();
    await client.query('LISTEN devs_jobs');
    const told = new Promise((resolve) => client.once('notification', ({ payload }) => resolve(payload)));
    await wake(run(queue, 'a'));
    expect(await told).toBe(queue);
    client.release(true);
  });

  test('come by priority, then by age, whatever a run is called', async () => {
    const queue = await aQueue();
    const ids = ['old', 'späte Post/7 — "x"', 'first'];
    for (const [n, id] of ids.entries()) await wake(run(queue, id, { priority: n === 2 ? 5 : 0 }));
    await wake(run(queue, ids[1] as string));
    const all = [await next(queue), await next(queue), await next(queue)].map(({ runId }) => runId);
    expect(all).toEqual(['first', 'old', 'späte Post/7 — "x"']);
    expect(await fetched(queue)).toEqual([]);
  });

  test('of a tenant are as many in hand as it has places; those of others pass them', async () => {
    const queue = await aQueue();
    for (const n of [1, 2, 3, 4]) await wake(run(queue, `a${n}`, { tenant: 'a' }));
    await wake(run(queue, 'b1', { tenant: 'b' }));
    const caps = new Map([['a', 2]]);
    const first = await fetched(queue, 4, caps);
    expect(first).toHaveLength(2);
    expect(await fetched(queue, 4, caps)).toEqual(['b1']);
    expect(await fetched(queue, 4, caps)).toEqual([]);
    const rest = ['a1', 'a2', 'a3', 'a4'].filter((id) => !first.includes(id));
    expect(await fetched(queue)).toEqual(rest);
  });

  test('that fail are tried again later, by who has them', async () => {
    const queue = await aQueue();
    await wake(run(queue, 'a'));
    const first = await next(queue);
    await tables.transaction((client) => jobs.fail(client, first, new Error('disk full')));
    expect(await fetched(queue)).toEqual([]); // not at once
    await pool.query('UPDATE devs_boss.job SET start_after = now() WHERE id = $1', [first.jobId]);
    expect(await next(queue)).toEqual({ ...first, retryCount: 1 });
    await tables.transaction((client) => jobs.fail(client, first, new Error('who was taken over')));
    const state = 'SELECT state FROM devs_boss.job WHERE id = $1';
    expect((await pool.query(state, [first.jobId])).rows).toEqual([{ state: 'active' }]);
  });

  test('that nobody touches any more are tried again', async () => {
    const queue = await aQueue();
    await wake(run(queue, 'a'));
    const job = await next(queue);
    const past = `UPDATE devs_boss.job SET heartbeat_on = now() - interval '1 hour' WHERE id = $1 RETURNING state`;
    expect((await pool.query(past, [job.jobId])).rows).toEqual([{ state: 'active' }]);
    await jobs.tidy();
    expect((await pool.query(past, [job.jobId])).rows).toEqual([{ state: 'retry' }]);
    await pool.query('UPDATE devs_boss.job SET start_after = now() WHERE id = $1', [job.jobId]);
    expect(await next(queue)).toEqual({ ...job, retryCount: 1 });
  });

  test('that are put back come after the others, or later', async () => {
    const queue = await aQueue();
    for (const id of ['a', 'b']) await wake(run(queue, id));
    const a = await next(queue);
    await tables.transaction((client) => jobs.putBack(client, run(queue, 'a'), a.jobId));
    const b = await next(queue);
    expect([a.runId, b.runId, (await next(queue)).runId]).toEqual(['a', 'b', 'a']);
    await jobs.touch([b]);
    await tables.transaction((client) => jobs.putBack(client, run(queue, 'b'), b.jobId, 60_000));
    expect(await fetched(queue)).toEqual([]);
  });

  test('whose runs processes have died with are fetched alone, the highest priority first', async () => {
    const queue = await aQueue();
    await wake(run(queue, 'good', { priority: -2_000_000_000 }));
    await wake(run(queue, 'died', { priority: -5, deaths: 2 }));
    await wake(run(queue, 'died-first', { priority: 2_000_000_000, deaths: 4 }));
    expect(await fetched(queue)).toEqual(['good']);
    const alone = async (): Promise<readonly string[]> =>
      (await jobs.fetch(queue, { limit: 1, caps: new Map(), alone: true })).map(({ runId }) => runId);
    expect([await alone(), await alone(), await alone()]).toEqual([['died-first'], ['died'], []]);
  });
});
