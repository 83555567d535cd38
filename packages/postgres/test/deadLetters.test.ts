import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClusterAdmin } from '../src/index.ts';
import { BossJobs, migrateJobs } from '../src/jobs/BossJobs.ts';
import { queueName } from '../src/jobs/Jobs.ts';
import { poolOf, withTransaction } from '../src/server/pool.ts';
import { workApp } from './chaos/workApp.ts';
import { giveUp } from './support/giveUp.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

let cluster: Cluster;
let admin: ClusterAdmin;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.runs().list();
  admin = new ClusterAdmin({ url: cluster.server.url });
});
afterAll(async () => {
  await admin.close();
  await cluster.stop();
});

const ADA = { kind: 'human', id: 'ada' } as const;
const WHY = 'Error: disk full';

async function aLetter(id: string) {
  const runs = cluster.runs();
  const worked: string[] = [];
  const app = workApp(runs, async (run) => void worked.push(run));
  await app.start(id, { run: id });
  expect(await giveUp(cluster.server.url, queueName(app.queue), new Error('disk full'))).toBe(id);
  return { runs, app, worked };
}

test('a run that was given up is a dead letter wherever it is asked for, and is driven again when told so', async () => {
  const { runs, app, worked } = await aLetter('letter');
  const dead = { status: 'dead_letter', reason: WHY };
  expect((await app.list({ status: 'dead_letter' })).runs).toMatchObject([{ id: 'letter', ...dead }]);
  expect(await app.get('letter')).toMatchObject(dead);
  expect(await app.result('letter', { wait: true })).toMatchObject(dead);
  expect((await admin.queue()).deadLetters).toMatchObject([{ threadId: 'letter', error: WHY, attempts: 9 }]);
  expect((await (await runs.driving()).view.deadNumbers()).deadLetters).toBe(1);
  // Who drives by hand does not, whatever the run's file has of it.
  expect(await app.run('letter', undefined, { throwOnFailure: false })).toMatchObject(dead);
  expect(worked).toEqual([]);
  expect((await admin.queue()).deadLetters).toHaveLength(1);
  const worker = await runs.work({ drivers: [app] });
  await sleep(200);
  expect(worked).toEqual([]);
  await expect(admin.redrive('nobody')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  expect(await admin.redrive('letter')).toEqual(['letter']);
  expect(await app.result('letter', { wait: true })).toMatchObject({ status: 'completed' });
  expect((await admin.queue()).deadLetters).toEqual([]);
  await worker.stop();
  await app.close();
});

test('a dead letter is revived by hand, and deleted, as one of a state file', async () => {
  const { app } = await aLetter('by-hand');
  expect(await app.revive('by-hand', { by: ADA })).toBe(true);
  expect(await app.get('by-hand')).toMatchObject({ status: 'paused' });
  expect((await admin.queue()).deadLetters).toEqual([]);
  expect(await app.run('by-hand')).toMatchObject({ status: 'completed' });
  await app.close();
  const other = await aLetter('deleted');
  await other.app.delete('deleted', { by: ADA });
  expect((await admin.queue()).deadLetters).toEqual([]);
  await other.app.close();
});

test('the dead letters of an earlier release, which were jobs, are dead letters', async () => {
  const runs = cluster.runs();
  for (const id of ['old', 'old-too']) await runs.create(cluster.newRun(id));
  const pool = poolOf({ connectionString: cluster.server.url, max: 3 });
  const jobs = new BossJobs(pool, { schema: 'devs' });
  await jobs.openQueue('runs.dead');
  const letter = { runId: 'old', queue: 'runs.dead', tenant: 'default', priority: 0, deaths: 0, slots: 1 };
  await withTransaction(pool, (client) => jobs.wake(client, letter));
  await pool.query(`UPDATE devs_boss.job SET source_output = '{"error":"of old"}' WHERE name = 'runs.dead'`);
  await migrateJobs(pool, 'devs');
  expect((await admin.queue()).deadLetters).toMatchObject([{ threadId: 'old', error: 'of old' }]);
  expect(await runs.get('old-too')).toMatchObject({ status: 'created' });
  expect(await cluster.sql(`SELECT 1 FROM devs_boss.job WHERE name = 'runs.dead'`)).toEqual([]);
  await jobs.close();
  await pool.end();
});
