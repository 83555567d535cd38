import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { durable } from '@devs/core/langgraph';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rightsSql, rowSecuritySql } from '../src/index.ts';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { POLICED_TABLES, SHOWN_TO_ALL } from '../src/rows/tenantPolicies.ts';
import { RIGHTS } from '../src/schema.ts';
import { Worker } from '../src/worker/Worker.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

const [ACME, UMBRELLA, WORKER, SHARED] = ['rls_acme', 'rls_umbrella', 'rls_worker', 'rls_shared'];

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.runs().list();
  for (const role of [ACME, UMBRELLA, WORKER, SHARED]) {
    await cluster.sql(
      `DO $$ BEGIN CREATE ROLE ${role} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
    );
    await cluster.sql(rightsSql('devs', role ?? ''));
  }
  await cluster.sql(rowSecuritySql('devs', 'role', WORKER));
});
afterAll(() => cluster.stop());

function urlAs(role: string, options?: string): string {
  const url = new URL(cluster.server.url);
  url.username = role;
  if (options !== undefined) url.searchParams.set('options', options);
  return url.href;
}

const Mail = Annotation.Root({ to: Annotation<string>(), sent: Annotation<boolean>() });
const mail = new StateGraph(Mail)
  .addNode('ask', ({ to }) => ({ sent: interrupt<string, boolean>(`Send to ${to}?`) }))
  .addEdge(START, 'ask');
const appAs = (url: string) => {
  const runs: PostgresRuns = cluster.runs({ url, migrate: false });
  return { runs, app: durable(mail, { runs, graph: 'mail' }) };
};
const BY = { kind: 'human', id: 'ada' } as const;

test('every table has a policy, or is shown to all', () => {
  expect([...POLICED_TABLES, ...SHOWN_TO_ALL].sort()).toEqual(Object.keys(RIGHTS).sort());
});

test('a tenant finds, reads and decides its own runs alone; a worker executes those of all', async () => {
  const [acme, umbrella] = [appAs(urlAs(ACME ?? '')), appAs(urlAs(UMBRELLA ?? ''))];
  await acme.app.start('acme/1', { to: 'Ada' }, { tenant: ACME ?? '', tags: ['hot'] });
  for (const nth of [1, 2])
    await umbrella.app.start(`umbrella/${nth}`, { to: 'Bob' }, { tenant: UMBRELLA ?? '', tags: ['hot'] });
  const { runs, app } = appAs(urlAs(WORKER ?? ''));
  const worker = await Worker.start(runs, { drivers: [app] });
  const openIn = async (app: typeof acme.app) => (await app.openGates()).gates;
  while ((await openIn(acme.app)).length < 1 || (await openIn(umbrella.app)).length < 2) await sleep(20);
  const [asked] = await openIn(acme.app);
  const ids = async (filter: object): Promise<readonly string[]> =>
    (await acme.app.list(filter)).runs.map(({ id }) => id);
  // A question is there before the worker has let go of its run.
  while ((await ids({ status: 'waiting' })).length === 0) await sleep(20);
  for (const filter of [{}, { tags: ['hot'] }, { status: 'waiting' }, { tenant: ACME }])
    expect(await ids(filter)).toEqual(['acme/1']);
  expect(await ids({ tenant: UMBRELLA })).toEqual([]);
  expect((await acme.app.openGates()).gates.map(({ threadId }) => threadId)).toEqual(['acme/1']);
  const [theirs] = (await umbrella.app.openGates()).gates;
  const notFound = { code: 'THREAD_NOT_FOUND' };
  await expect(acme.app.values('umbrella/1')).rejects.toMatchObject(notFound);
  await expect(acme.app.cancel('umbrella/1')).rejects.toMatchObject(notFound);
  if (asked === undefined || theirs === undefined) throw new Error('There are no gates.');
  await expect(acme.app.decide(theirs, { value: true, by: BY })).rejects.toMatchObject({
    code: 'GATE_NOT_FOUND',
  });
  await acme.app.decide(asked, { value: true, by: BY });
  const ended = await acme.app.result('acme/1', { wait: true });
  expect(ended).toMatchObject({ status: 'completed', values: { sent: true } });
  await umbrella.app.cancel('umbrella/1');
  await worker.stop();
  // An id is taken in the whole cluster, and a tenant cannot be another one.
  await expect(acme.app.start('umbrella/1', { to: 'Eve' }, { tenant: ACME ?? '' })).rejects.toMatchObject(
    notFound,
  );
  await expect(acme.app.start('new', { to: 'Eve' }, { tenant: UMBRELLA ?? '' })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

describe('the table of what a role can do', () => {
  const page = readFileSync(new URL('../../../docs/internals/security.md', import.meta.url), 'utf8');
  const rows = [
    ...page.matchAll(
      /^\| `((?:SELECT|UPDATE|DELETE|INSERT|TRUNCATE|DROP|CREATE|ALTER|SET) [^`]+)` \| ([^|]+) \| ([^|]+) \|$/gm,
    ),
  ];

  /** Outcome of a statement that is rolled back. */
  async function outcome(role: string, sql: string): Promise<string> {
    const table = /(?:FROM|UPDATE) (devs\w*\.\w+)/.exec(sql)?.[1];
    const all =
      table === undefined ? null : (await cluster.sql(`SELECT count(*)::int AS n FROM ${table}`))[0]?.['n'];
    const client = new pg.Client({ connectionString: urlAs(role) });
    await client.connect();
    try {
      await client.query('BEGIN');
      const { rowCount } = await client.query(sql);
      await client.query('ROLLBACK');
      if (all === null) return 'yes';
      return rowCount === all ? 'all rows' : 'own rows';
    } catch (error) {
      expect(error).toMatchObject({ code: '42501' });
      return 'no';
    } finally {
      await client.end();
    }
  }

  test('is true', async () => {
    expect(rows.length).toBeGreaterThan(10);
    const found = [];
    for (const [, sql = ''] of rows)
      found.push([sql, await outcome(WORKER ?? '', sql), await outcome(ACME ?? '', sql)]);
    expect(found).toEqual(rows.map(([, sql, worker, tenant]) => [sql, worker?.trim(), tenant?.trim()]));
  });
});

test('a setting of the connection says which tenant it is', async () => {
  await cluster.sql(rowSecuritySql('devs', 'setting', WORKER));
  const { app } = appAs(urlAs(SHARED ?? '', `-c devs.tenant=${UMBRELLA}`));
  expect((await app.list()).runs.map(({ id }) => id)).toEqual(['umbrella/2', 'umbrella/1']);
  const none = appAs(urlAs(SHARED ?? ''));
  expect((await none.app.list()).runs).toEqual([]);
});
