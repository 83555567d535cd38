import { setTimeout as sleep } from 'node:timers/promises';
import { child, durable } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ClusterAdmin } from '../src/ClusterAdmin.ts';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import type { PostgresOptions } from '../src/postgres.ts';
import { Worker } from '../src/worker/Worker.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

let cluster: Cluster;
let runs: PostgresRuns;
const workers: Worker[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  runs = cluster.runs();
  await runs.list();
});
afterAll(() => cluster.stop());
beforeEach(() => cluster.sql('TRUNCATE devs.runs, devs.runs_not_kept CASCADE; DELETE FROM devs_boss.job'));
const stopAll = (): Promise<unknown> => Promise.all(workers.splice(0).map((worker) => worker.stop()));
afterEach(stopAll);

const BY = { kind: 'human', id: 'ada' } as const;
const Mail = Annotation.Root({
  to: Annotation<string>(),
  said: Annotation<readonly string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
const mail = new StateGraph(Mail)
  .addNode('send', ({ to }) => ({ said: [`to ${to}`] }))
  .addEdge(START, 'send')
  .addEdge('send', END);

const mailApp = (over: PostgresRuns = runs) => durable(mail, { runs: over, graph: 'mail' });

async function keeps(ended: string, options: Partial<PostgresOptions> = {}): Promise<void> {
  const own = cluster.runs({ ...options, retention: { ended } });
  workers.push(await Worker.start(own, { drivers: [mailApp(own)] }));
}

const age = (ids: readonly string[], days: number): Promise<unknown> =>
  cluster.sql(`UPDATE devs.runs SET ended_at = now() - $2 * interval '1 day' WHERE run_id = ANY ($1)`, [
    ids,
    days,
  ]);
const kept = async (): Promise<readonly unknown[]> =>
  (await cluster.sql('SELECT run_id FROM devs.runs ORDER BY run_id')).map(({ run_id }) => run_id);

/** Resolves when only these are left. */
async function remain(ids: readonly string[]): Promise<void> {
  while ((await kept()).length > ids.length) await sleep(20);
  expect(await kept()).toEqual(ids);
}

test('what has ended is stored as one base, and its changes are gone', async () => {
  const app = mailApp();
  await app.run('mail', { to: 'Ada' });
  expect(await cluster.sql('SELECT count(*)::int AS n FROM devs.run_changes')).toEqual([{ n: 0 }]);
  expect(await cluster.sql('SELECT part FROM devs.run_bases')).toEqual([{ part: 0 }]);
  expect(await app.values('mail')).toMatchObject({ said: ['to Ada'] });
});

describe('runs whose retention is over', () => {
  test('are deleted with all of their rows, and are known as not kept', async () => {
    const app = mailApp();
    for (const id of ['new', 'old']) await app.run(id, { to: 'Ada' }, { tags: ['hot'] });
    await age(['old'], 31);
    await keeps('30d');
    await remain(['new']);
    for (const table of ['run_bases', 'run_labels'])
      expect(await cluster.sql(`SELECT DISTINCT run_id FROM devs.${table}`), table).toEqual([
        { run_id: 'new' },
      ]);
    const notKept = expect.objectContaining({ code: 'NOT_KEPT', context: { threadId: 'old' } });
    const asked = [
      app.result('old'),
      app.values('old'),
      app.stream('old', null).next(),
      app.run('old', { to: 'Bob' }),
      app.start('old', { to: 'Bob' }),
      app.updateMetadata('old', { n: 1 }),
      app.signal('old', 'hello', null, { by: BY, signalId: 's', start: { input: { to: 'Bob' } } }),
      app.cancel('old'),
      app.fork('old', { as: 'fork', by: BY }),
    ];
    for (const each of await Promise.allSettled(asked))
      expect(each).toEqual({ status: 'rejected', reason: notKept });
    expect(await app.get('old')).toBeNull();
    expect((await app.list()).runs.map(({ id }) => id)).toEqual(['new']);
  });

  test('have an id that is free again after as long a time', async () => {
    const app = mailApp();
    await app.run('old', { to: 'Ada' });
    await age(['old'], 31);
    await keeps('30d');
    await remain([]);
    await stopAll();
    await cluster.sql(`UPDATE devs.runs_not_kept SET forget_at = now() - interval '1 s'`);
    expect(await app.run('old', { to: 'Bob' })).toMatchObject({ status: 'completed' });
    await age(['old'], 29);
    await keeps('30d');
    while ((await cluster.sql('SELECT FROM devs.runs_not_kept')).length > 0) await sleep(20);
    expect(await kept()).toEqual(['old']);
  });

  test('stay while something needs them', async () => {
    const app = mailApp();
    const ids = ['asks', 'child', 'followed', 'held', 'left', 'told'];
    for (const id of ids) await app.run(id, { to: 'Ada' });
    const set = (id: string, what: string): Promise<unknown> =>
      cluster.sql(`UPDATE devs.runs SET ${what} WHERE run_id = $1`, [id]);
    await set('child', 'open_children = 1');
    await set('followed', `followed_until = now() + interval '1 minute'`);
    await set('told', 'wake_seq = handled_seq + 1');
    await cluster.sql(
      `INSERT INTO devs.gates (session_id, run_id, tenant, kind, artifact_hash, gate, status, opened_at)
       VALUES ('g', 'asks', 'default', 'question', 'h', '{}', 'open', now())`,
    );
    await age(ids, 40);
    await cluster.sql('DELETE FROM devs_boss.job'); // of their starts, which happened without a worker
    const held = await cluster.runs().hold('held');
    await keeps('30d');
    await remain(ids.filter((id) => id !== 'left'));
    await held.close();
  });

  test('are those that ended, and not those whose first turn did', async () => {
    const app = mailApp();
    await app.run('chat', { to: 'Ada' });
    await age(['chat'], 40);
    await app.run('chat', { to: 'Bob' }, { turn: '2' });
    await app.run('old', { to: 'Ada' });
    await age(['old'], 40);
    await keeps('30d');
    await remain(['chat']);
    expect(await app.values('chat')).toMatchObject({ said: ['to Ada', 'to Bob'] });
  });

  test('leave their forks whole', async () => {
    const app = mailApp();
    await app.run('old', { to: 'Ada' });
    await app.fork('old', { as: 'fork', by: BY });
    await age(['old'], 40);
    await keeps('30d');
    await remain(['fork']);
    expect(await app.result('fork', { wait: true })).toMatchObject({
      ...{ status: 'completed', values: { said: ['to Ada'] } },
    });
  });

  test('are kept as long as the most patient worker says', async () => {
    const app = mailApp();
    for (const id of ['a', 'b']) await app.run(id, { to: 'Ada' });
    await age(['a'], 20);
    await age(['b'], 40);
    await keeps('30d');
    await remain(['a']);
    await keeps('10d');
    await sleep(100);
    expect(await kept()).toEqual(['a']);
  });

  test('are deleted in portions, one after the other', async () => {
    await cluster.sql(
      `INSERT INTO devs.runs (run_id, birth, tenant, graph, fingerprint, queue, schema_version, status, ended_at)
       SELECT 'run-' || n, gen_random_uuid(), 'acme', 'mail', 'f', 'runs.mail.f', 1, 'completed', now() - interval '2 minutes'
       FROM generate_series(1, 120) n`,
    );
    await keeps('1m');
    await remain([]);
    expect(await cluster.sql('SELECT count(*)::int AS n FROM devs.runs_not_kept')).toEqual([{ n: 120 }]);
  });
});

test('a run that failed while its child waits says so in its row', async () => {
  const asking = new StateGraph(Mail)
    .addNode('ask', () => ({ said: [interrupt<string, string>('well?')] }))
    .addEdge(START, 'ask');
  const asks = durable(asking, { runs, graph: 'asks' });
  const parent = new StateGraph(Mail)
    .addNode('begin', async () => ({ said: [(await child(asks, 'below', { to: 'Ada' })).status] }))
    .addNode('fail', () => {
      throw new Error('no');
    })
    .addEdge(START, 'begin')
    .addEdge(START, 'fail');
  const app = durable(parent, { runs, graph: 'parent' });
  await app.run('parent', { to: 'Ada' }).catch(() => undefined);
  const [row] = await cluster.sql(`SELECT status, open_children FROM devs.runs WHERE run_id = 'parent'`);
  expect(row).toEqual({ status: 'failed', open_children: 1 });
});

describe('ClusterAdmin.removeEnded', () => {
  test('deletes what ended long ago, of all tenants or of one, and frees the ids', async () => {
    const app = mailApp();
    const admin = new ClusterAdmin({ url: cluster.server.url });
    for (const id of ['a1', 'a2', 'b1']) {
      await app.start(id, { to: 'Ada' }, { tenant: id.slice(0, 1) });
      await app.run(id);
    }
    await age(['a1', 'b1'], 40);
    const olderThanMs = 30 * 86_400_000;
    expect(await admin.removeEnded({ olderThanMs, tenant: 'a' })).toEqual({ removed: 1, kept: 0 });
    expect(await kept()).toEqual(['a2', 'b1']);
    expect(await admin.removeEnded({ olderThanMs, exceptGraph: 'mail' })).toEqual({ removed: 0, kept: 1 });
    expect(await admin.removeEnded({ olderThanMs })).toEqual({ removed: 1, kept: 0 });
    expect(await app.run('a1', { to: 'Bob' })).toMatchObject({ status: 'completed' });
    await expect(admin.removeEnded({ olderThanMs: -1 })).rejects.toThrow(RangeError);
    await expect(admin.removeEnded({ olderThanMs, tenant: ' ' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    await admin.close();
  });
});
