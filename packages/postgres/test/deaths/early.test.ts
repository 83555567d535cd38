import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { workApp } from '../chaos/workApp.ts';
import { type Cluster, startCluster } from '../support/startCluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const rowOf = async (id: string) =>
  (
    await cluster.sql('SELECT owner, deaths, early_deaths, status, reason FROM devs.runs WHERE run_id = $1', [
      id,
    ])
  )[0];

/** A process claims the run and dies once it has its file. */
async function diesLater(id: string): Promise<void> {
  const runs = cluster.runs();
  expect(await runs.take(id)).toMatchObject({ id });
  await runs.owner.close();
}

/** A process claims the run and dies before it has its file: somebody keeps it from reading that. */
async function diesEarly(id: string): Promise<void> {
  const [runs, keeper] = [cluster.runs(), new pg.Client(cluster.server.url)];
  await keeper.connect();
  await keeper.query('BEGIN; LOCK TABLE devs.run_starts, devs.run_bases, devs.run_changes');
  const taken = runs.take(id);
  while ((await rowOf(id))?.['owner'] === null) await sleep(10);
  await runs.owner.close();
  await reap();
  await keeper.end();
  const held = await taken;
  if (typeof held === 'object') await held.close();
}

async function reap(): Promise<void> {
  const { leases } = await cluster.runs().driving();
  while ((await leases.reap()) === 0) await sleep(10);
}

test('a worker whose clock is wrong counts no death of its own', async () => {
  const [first, second] = [cluster.runs(), cluster.runs()];
  const stuck = workApp(first, () => new Promise(() => undefined));
  await stuck.start('skewed', { run: 'skewed' });
  void stuck.run('skewed').catch(() => undefined);
  const arrived = `SELECT 1 FROM devs.runs WHERE run_id = 'skewed' AND head_seq > 0`;
  while ((await cluster.sql(arrived)).length === 0) await sleep(10);
  await first.owner.close();
  await reap();
  await cluster.sql(`UPDATE devs.runs SET deaths = 4 WHERE run_id = 'skewed'`);
  const now = Date.now.bind(Date);
  const skewed = vi.spyOn(Date, 'now').mockImplementation(() => now() + 20 * 60_000);
  try {
    const app = workApp(second, () => Promise.resolve());
    expect(await app.run('skewed', undefined, { throwOnFailure: false })).toMatchObject({
      status: 'completed',
    });
  } finally {
    skewed.mockRestore();
  }
});

test('who dies between the claim of a run and its first node is no reason to give it up, unless many do', async () => {
  const starter = workApp(cluster.runs(), () => Promise.reject(new Error('This process drives nothing.')));
  await starter.start('early', { run: 'early' });
  await diesEarly('early'); // the first says nothing before it dies
  expect(await rowOf('early')).toMatchObject({ deaths: 1, early_deaths: 0 });
  await diesEarly('early');
  await diesEarly('early');
  expect(await rowOf('early')).toMatchObject({ deaths: 1, early_deaths: 2, status: 'created' });
  await diesLater('early');
  await reap();
  expect(await rowOf('early')).toMatchObject({ deaths: 2, early_deaths: 2 });
  await cluster.sql(`UPDATE devs.runs SET early_deaths = 18 WHERE run_id = 'early'`);
  await diesEarly('early');
  expect(await rowOf('early')).toMatchObject({ deaths: 2, status: 'created' });
  await diesEarly('early');
  expect(await rowOf('early')).toMatchObject({
    deaths: 5,
    status: 'dead_letter',
    reason: expect.stringContaining('20 processes died or froze before they began'),
  });
});
