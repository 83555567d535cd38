import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workApp } from '../chaos/workApp.ts';
import { type Cluster, startCluster } from '../support/startCluster.ts';
import { Machines } from './Machines.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const openRuns = (): Promise<readonly unknown[]> =>
  cluster.sql(`SELECT 1 FROM devs.runs WHERE ended_at IS NULL AND run_id LIKE 'good-%'`);

test('a run that ends every process is a dead letter after five of them, and keeps no other from its end', async () => {
  const machines: Machines = new Machines({
    runs: () => cluster.runs(),
    slots: 10,
    act: async (run, _node, die) => {
      // Later than the first time: what says that the run has begun arrives before it dies, and is no progress.
      if (run === 'poison' && machines.deaths.length > 0) await sleep(300);
      if (run === 'poison') await die();
      await sleep(50);
    },
  });
  const runs = cluster.runs();
  const app = workApp(runs, () => Promise.reject(new Error('This process drives nothing.')));
  for (const id of ['good-1', 'good-2', 'good-3', 'poison', 'good-4', 'good-5', 'good-6'])
    await app.start(id, { run: id });
  await Promise.all([machines.start(), machines.start()]);
  const { leases } = await runs.driving();
  while ((await openRuns()).length > 0 || (await leases.deadLetters()).length === 0) await sleep(50);
  expect(await leases.deadLetters()).toMatchObject([
    { threadId: 'poison', error: expect.stringContaining('5 processes') },
  ]);
  expect(machines.deaths).toHaveLength(5);
  // Whoever was beside it twice is not beside it again.
  expect(machines.deaths.slice(2)).toEqual(Array.from({ length: 3 }, () => ['poison']));
  await machines.stop();
}, 60_000);
