import type { Runs } from '@devs/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClusterView } from '../src/cluster/ClusterView.ts';
import { BossJobs } from '../src/jobs/BossJobs.ts';
import { EndedRuns } from '../src/rows/EndedRuns.ts';
import { Leases } from '../src/rows/Leases.ts';
import { RunLists } from '../src/rows/RunLists.ts';
import { Watches } from '../src/rows/Watches.ts';
import { SCHEMA_STEPS, schemaSql } from '../src/schema.ts';
import { poolOf } from '../src/server/pool.ts';
import { Tables } from '../src/server/Tables.ts';
import { fillRuns, TAGS } from './support/fillRuns.ts';
import { PlanReader } from './support/PlanReader.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

const ENDED = 20_000;
const WAITING = 200;
/** Rows of one table and one look: a page, or all that is open a few times, and far from all that has ended. */
const MOST = 1000;

let cluster: Cluster;
let reader: PlanReader;
let parts: ReturnType<typeof partsOver>;

function partsOver() {
  const tables = new Tables(reader.pool, {
    schema: 'devs',
    patience: { awayMs: 0, onAway: () => undefined },
    isPooled: true,
  });
  const boss = poolOf({ connectionString: cluster.server.url, max: 1 });
  const jobs = new BossJobs(boss, { schema: 'devs' });
  return {
    ...{ tables, boss, jobs },
    lists: new RunLists(tables),
    view: new ClusterView(tables),
    leases: new Leases(tables, jobs),
    ended: new EndedRuns(tables, jobs),
    watches: new Watches(tables, { listen: () => () => undefined }),
  };
}

beforeAll(async () => {
  cluster = await startCluster();
  const runs = cluster.runs();
  await runs.create(cluster.newRun('due'));
  await fillRuns(cluster.server.url, { ended: ENDED, waiting: WAITING });
  await cluster.sql(`INSERT INTO devs.tenants (tenant, cap) VALUES ('tenant-3', 2)`);
  reader = new PlanReader(cluster.server.url);
  parts = partsOver();
  await parts.ended.addUp(); // as the leader does every 15 s
  await cluster.sql('VACUUM ANALYZE devs.run_counts');
}, 60_000);
afterAll(async () => {
  parts.watches.close();
  await parts.jobs.close();
  await Promise.all([reader.close(), parts.boss.end()]);
  await cluster.stop();
});

/** @throws Error with the plans, where more was read of a table than is looked for. */
async function readsLittle<T>(work: () => Promise<T>): Promise<T> {
  let result: T | undefined;
  const { rows, plans } = await reader.of(async () => {
    result = await work();
  });
  const tooMany = [...rows].filter(([, n]) => n > MOST);
  if (tooMany.length > 0) throw new Error(`${JSON.stringify(tooMany)}\n${plans.join('\n')}`);
  return result as T;
}

describe('a page of runs reads little, however many have ended', () => {
  const TENTH = new Date(Date.now() - 10 * 1000);
  const filters: Readonly<Record<string, readonly [NonNullable<Parameters<Runs['list']>[0]>, number]>> = {
    'all of them': [{}, 50],
    'those that wait': [{ status: 'waiting' }, 50],
    'those that run': [{ status: 'running' }, 0],
    'the few that failed': [{ status: 'failed' }, ENDED / 1000],
    'the many that completed': [{ status: 'completed' }, 50],
    'some statuses': [{ status: ['failed', 'dead_letter', 'paused', 'running', 'created'] }, 21],
    'of a tenant': [{ tenant: 'tenant-7' }, 50],
    'of a tenant that wait': [{ tenant: 'tenant-7', status: 'waiting' }, WAITING / 20],
    'of a tenant that failed': [{ tenant: 'tenant-7', status: 'failed' }, 0],
    'of no tenant': [{ tenant: 'nobody' }, 0],
    'with a tag that many have': [{ tags: [TAGS.often] }, 50],
    'with a tag that few have': [{ tags: [TAGS.rare] }, 21],
    'with a tag that none has': [{ tags: ['none'] }, 0],
    'with a prefix that all have': [{ idPrefix: 'run-' }, 50],
    'with a prefix that few have': [{ idPrefix: 'run-1999' }, 11],
    'of a graph': [{ graph: 'f'.repeat(64) }, 1],
    'that are due': [{ due: true }, 1],
    'of a time': [{ createdSince: TENTH, createdBefore: new Date(TENTH.getTime() + 5000) }, 5],
  };

  test.each(Object.entries(filters))('%s', async (_, [filter, length]) => {
    const { runs, next } = await readsLittle(() => parts.lists.list(filter));
    expect(runs).toHaveLength(length);
    if (next === null) return;
    const more = await readsLittle(() => parts.lists.list({ ...filter, after: next }));
    expect(new Set([...runs, ...more.runs].map(({ id }) => id)).size).toBe(length + more.runs.length);
    expect(more.runs[0]?.createdAt.localeCompare(runs.at(-1)?.createdAt ?? '')).toBeLessThanOrEqual(0);
  });

  test('one run, and what is listed of some', async () => {
    expect(await readsLittle(() => parts.lists.get('run-5'))).toMatchObject({ status: 'completed' });
    expect(await readsLittle(() => parts.lists.indexed(['run-5', 'run-6', 'none']))).toHaveLength(2);
  });
});

describe('a page of gates reads little', () => {
  test.each([
    ['all of them', {}, 50],
    ['of a tenant', { tenant: 'tenant-7' }, WAITING / 20],
    ['of runs with a tag that many have', { tags: [TAGS.often] }, 50],
    ['of runs with a tag that none has', { tags: ['none'] }, 0],
    ['of runs with a prefix', { idPrefix: 'run-2000' }, 10],
  ] as const)('%s', async (_, filter, length) => {
    const page = await readsLittle(() => parts.lists.gates(filter));
    expect(page.gates).toHaveLength(length);
  });

  test('their number', async () => {
    expect(await readsLittle(() => parts.lists.countGates())).toBe(WAITING);
  });
});

describe('what looks every second reads little', () => {
  test('metrics, queues, tenants, workers', async () => {
    const { runs, gates } = await readsLittle(() => parts.view.numbers());
    expect((await readsLittle(() => parts.view.deadNumbers())).deadLetters).toBe(0);
    const ofStatus = (wanted: string): number =>
      runs.filter(({ status }) => status === wanted).reduce((sum, each) => sum + each.runs, 0);
    expect(ofStatus('completed')).toBe(ENDED - ENDED / 1000);
    expect(ofStatus('failed')).toBe(ENDED / 1000);
    expect(ofStatus('waiting')).toBe(WAITING);
    expect(gates).toHaveLength(20);
    expect(await readsLittle(() => parts.view.queues())).toHaveLength(2);
    expect(await readsLittle(() => parts.view.tenants())).toHaveLength(21);
    await readsLittle(() => parts.view.workers());
  });

  test('the reaper, timers, restored jobs, caps', async () => {
    await readsLittle(() => parts.leases.reap());
    await readsLittle(() => parts.leases.wakeDue());
    await readsLittle(() => parts.leases.tidy());
    await readsLittle(() => parts.leases.freeUnconfirmed());
    await readsLittle(() => parts.leases.restoreJobs());
    await readsLittle(() => parts.leases.caps());
  });

  test('who follows all runs', async () => {
    const told: string[] = [];
    const end = await readsLittle(() => parts.watches.watch(null, () => told.push('news')));
    await cluster.sql(`DELETE FROM devs.runs WHERE run_id = 'run-19'`);
    const again = await readsLittle(() => parts.watches.watch(null, () => undefined));
    expect(told).toEqual(['news']);
    end();
    again();
  });
});

describe('the counts of ended runs', () => {
  const counts = async () => (await parts.view.numbers()).runs.filter(({ tenant }) => tenant === 'counted');
  const insert = (id: string, status: string): Promise<unknown> =>
    cluster.sql(
      `INSERT INTO devs.runs (run_id, birth, tenant, graph, fingerprint, queue, schema_version, status, ended_at)
       VALUES ($1, gen_random_uuid(), 'counted', 'mail', 'f', 'runs.mail.f', 1, $2, CASE WHEN $3 THEN now() END)`,
      [id, status, status !== 'waiting'],
    );

  test('follow what ends, goes on again and is deleted, and are added up', async () => {
    await insert('a', 'waiting');
    await insert('b', 'completed');
    await cluster.sql(`UPDATE devs.runs SET status = 'completed', ended_at = now() WHERE run_id = 'a'`);
    expect(await counts()).toEqual([{ tenant: 'counted', status: 'completed', runs: 2 }]);
    await cluster.sql(`UPDATE devs.runs SET status = 'failed' WHERE run_id = 'b'`);
    await cluster.sql(`UPDATE devs.runs SET status = 'waiting', ended_at = NULL WHERE run_id = 'a'`);
    await parts.ended.addUp();
    expect(await counts()).toEqual([
      { tenant: 'counted', status: 'failed', runs: 1 },
      { tenant: 'counted', status: 'waiting', runs: 1 },
    ]);
    const rows = `SELECT status, n::int FROM devs.run_counts WHERE tenant = 'counted'`;
    expect(await cluster.sql(rows)).toEqual([{ status: 'failed', n: 1 }]);
    await cluster.sql(`DELETE FROM devs.runs WHERE tenant = 'counted'`);
    expect(await counts()).toEqual([]);
    await parts.ended.addUp();
    expect(await cluster.sql(rows)).toEqual([]);
  });

  test('are made of the runs that are there when they begin', async () => {
    const before = [...Array(SCHEMA_STEPS).keys()].findLast(
      (steps) => !schemaSql('older', steps).includes('run_counts'),
    );
    await cluster.sql(schemaSql('older', before));
    await cluster.sql(
      `INSERT INTO older.runs (run_id, birth, tenant, graph, fingerprint, queue, schema_version, status, ended_at)
       SELECT 'run-' || n, gen_random_uuid(), 'acme', 'mail', 'f', 'runs.mail.f', 1, 'cancelled', now()
       FROM generate_series(1, 3) n`,
    );
    const older = cluster.runs({ schema: 'older' });
    expect((await older.list()).runs).toHaveLength(3);
    expect(await cluster.sql('SELECT tenant, status, n::int FROM older.run_counts')).toEqual([
      { tenant: 'acme', status: 'cancelled', n: 3 },
    ]);
  });
});
