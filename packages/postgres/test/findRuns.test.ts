import type { Runs } from '@devs/core';
import { durable, waitFor } from '@devs/core/langgraph';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { olderFile } from '../../core/test/support/olderFile.ts';
import { FileTemplates } from '../src/files/FileTemplates.ts';
import { plainCodecs, RunFiles } from '../src/files/RunFiles.ts';
import { ClusterAdmin } from '../src/index.ts';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { LabelBackfill } from '../src/rows/LabelBackfill.ts';
import { RunLists } from '../src/rows/RunLists.ts';
import { poolOf } from '../src/server/pool.ts';
import { type Statement, Tables } from '../src/server/Tables.ts';
import { giveUp } from './support/giveUp.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

let cluster: Cluster;
let runs: PostgresRuns;
let admin: ClusterAdmin;
let pool: pg.Pool;

beforeAll(async () => {
  cluster = await startCluster();
  runs = cluster.runs();
  admin = new ClusterAdmin({ url: cluster.server.url });
  pool = poolOf({ connectionString: cluster.server.url, max: 2 });
  await runs.list();
});
afterAll(async () => {
  await Promise.all([admin.close(), pool.end()]);
  await cluster.stop();
});
beforeEach(async () => {
  await cluster.sql('TRUNCATE devs.runs CASCADE; DELETE FROM devs_boss.job');
});

const BY = { kind: 'human', id: 'ada' } as const;
const Mail = Annotation.Root({ said: Annotation<string>() });
const asking = () =>
  new StateGraph(Mail)
    .addNode('ask', () => ({ said: interrupt<string, string>('what?') }))
    .addEdge(START, 'ask');
const appOver = (over: Runs) => durable(asking(), { runs: over, graph: 'mail' });

/** Makes rows as older releases left them. */
const forgetLabels = () => cluster.sql('DELETE FROM devs.run_labels; UPDATE devs.runs SET labels = NULL');
const labelRows = () => cluster.sql('SELECT * FROM devs.run_labels ORDER BY run_id, label');

describe('runs of a release without labels', () => {
  const LABELS = { metadata: { tenant: 'acme', n: 1, 'ü"': null }, tags: ['hot', 'ü'] };
  const found = async (filter: Parameters<Runs['list']>[0]) =>
    (await runs.list(filter)).runs.map(({ id }) => id).toSorted();

  test('are found after a migration, ended or not, and say what they said', async () => {
    const app = appOver(runs);
    await app.run('waits', {}, { ...LABELS, tenant: 'acme' });
    await app.run('ended', {}, LABELS);
    await app.cancel('ended');
    await app.run('ended');
    await app.run('plain', {});
    const [rows, infos] = [await labelRows(), await app.list()];
    expect(rows).toHaveLength(10);
    await forgetLabels();
    expect(await found(LABELS)).toEqual([]);
    const told: unknown[] = [];
    const migrated = await admin.migrate({ onProgress: (progress) => told.push(progress) });
    expect(migrated).toMatchObject({ labelled: 3, unreadable: [] });
    expect(told).toEqual([{ done: 3, of: 3 }]);
    expect(await labelRows()).toEqual(rows);
    expect(await app.list()).toEqual(infos);
    expect(await found(LABELS)).toEqual(['ended', 'waits']);
    expect((await app.openGates(LABELS)).gates.map(({ threadId }) => threadId)).toEqual(['waits']);
    expect(await admin.migrate()).toMatchObject({ labelled: 0, unreadable: [] });
  });

  test('are read from files whose tables have none', async () => {
    const options = JSON.stringify({ options: { metadata: { tenant: 'acme' }, tags: ['hot'] } });
    const file = olderFile(
      40,
      `INSERT INTO threads (thread_id, project_id, graph_fingerprint, status, created_at, updated_at)
         VALUES ('old', 'p', 'g', 'completed', 1, 1);
       INSERT INTO thread_inputs (thread_id, turn, type, value, sha256)
         VALUES ('old', 1, 'given:plain', CAST('${options}' AS BLOB), zeroblob(32));`,
    );
    await runs.create({ ...cluster.newRun('old'), file });
    await forgetLabels();
    expect(await admin.migrate()).toMatchObject({ labelled: 1, unreadable: [] });
    expect(await found({ metadata: { tenant: 'acme' }, tags: ['hot'] })).toEqual(['old']);
  });

  test('are skipped and named where their file is damaged, and what was done stays', async () => {
    await runs.create(cluster.newRun('run-000'));
    await cluster.sql(`
      INSERT INTO devs.runs (run_id, birth, tenant, graph, fingerprint, queue, schema_version, status)
      SELECT 'run-' || lpad(n::text, 3, '0'), gen_random_uuid(), tenant, graph, fingerprint, queue, schema_version, status
      FROM devs.runs, generate_series(1, 204) n;
      INSERT INTO devs.run_bases (run_id, seq, part, bytes)
      SELECT r.run_id, seq, part, bytes FROM devs.runs r, devs.run_bases WHERE r.run_id <> 'run-000'`);
    await forgetLabels();
    await cluster.sql(`UPDATE devs.run_bases SET bytes = '\\x00' WHERE run_id IN ('run-099', 'run-204')`);
    const told: { readonly done: number; readonly of: number }[] = [];
    const interrupted = admin.migrate({
      onProgress: (progress) => {
        told.push(progress);
        throw new Error('killed');
      },
    });
    await expect(interrupted).rejects.toThrow('killed');
    const { labelled, unreadable } = await admin.migrate({ onProgress: (progress) => told.push(progress) });
    expect(told).toEqual([
      { done: 100, of: 205 },
      { done: 100, of: 106 },
      { done: 106, of: 106 },
    ]);
    expect(labelled).toBe(104);
    expect(unreadable.map(({ id }) => id)).toEqual(['run-099', 'run-204']);
    expect(unreadable[0]?.error).toMatch(/does not result in its file/);
  });

  test('are read with the codec of their tenant', async () => {
    const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 255);
    const codec = () => ({ encode: flip, decode: flip });
    await appOver(cluster.runs({ codec })).start('sealed', {}, LABELS);
    await forgetLabels();
    expect((await admin.migrate()).unreadable.map(({ id }) => id)).toEqual(['sealed']);
    const keyed = new ClusterAdmin({ url: cluster.server.url, codec });
    expect(await keyed.migrate()).toMatchObject({ labelled: 1, unreadable: [] });
    await keyed.close();
    expect(await found(LABELS)).toEqual(['sealed']);
  });

  test('keep what their driver settles meanwhile', async () => {
    const app = appOver(runs);
    await app.run('mail-1', {}, LABELS);
    const rows = await labelRows();
    await forgetLabels();
    const [gate] = await app.gates('mail-1');
    if (gate === undefined) throw new Error('no gate');
    await app.decide(gate, { value: 'yes', by: BY });
    await Promise.all([admin.migrate(), app.run('mail-1')]);
    expect(await labelRows()).toEqual(rows);
    expect(await found(LABELS)).toEqual(['mail-1']);
  });
});

describe('lists of thousands of runs', () => {
  const RUNS = 6000;

  /** Asks and keeps the plans. */
  class Explained extends Tables {
    readonly plans: string[] = [];

    override async query<Row extends pg.QueryResultRow>(
      sql: string | Statement,
      values: readonly unknown[],
    ): Promise<readonly Row[]> {
      const text = typeof sql === 'string' ? sql : sql.text;
      const plan = await super.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, TIMING OFF) ${text}`,
        values,
      );
      this.plans.push(plan.map((line) => line['QUERY PLAN']).join('\n'));
      return super.query<Row>(sql, values);
    }
  }

  const fill = async () => {
    await cluster.sql(`
      INSERT INTO devs.runs (run_id, birth, tenant, graph, fingerprint, queue, schema_version, status, created_at, labels)
      SELECT 'mail-' || lpad(n::text, 5, '0'), gen_random_uuid(), 't' || n % 100, 'mail', 'f', 'q', 1,
        CASE n % 3 WHEN 0 THEN 'completed' ELSE 'waiting' END, now() - interval '1 s' * n,
        '["[\\"customer\\",\\"c' || n % 200 || '\\"]","[\\"all\\"]"]' FROM generate_series(1, ${RUNS}) n;
      INSERT INTO devs.run_labels (label, created_at, run_id)
      SELECT sha256(convert_to(text, 'UTF8')), created_at, run_id FROM devs.runs, json_array_elements_text(labels::json) text;
      INSERT INTO devs.gates (session_id, run_id, tenant, kind, artifact_hash, gate, status, opened_at)
      SELECT run_id, run_id, tenant, 'ask', 'h', json_build_object('sessionId', run_id, 'openedAt', created_at)::text, 'open', created_at
      FROM devs.runs;
      ANALYZE devs.runs; ANALYZE devs.run_labels; ANALYZE devs.gates`);
  };

  const FILTERS = [
    ['nothing', {}, 50],
    ['metadata', { metadata: { customer: 'c7' } }, 30],
    ['a tag that all have', { tags: ['all'] }, 50],
    ['a tag that none has', { tags: ['none'] }, 0],
    ['metadata and a tag', { metadata: { customer: 'c7' }, tags: ['all'] }, 30],
    ['a tenant', { tenant: 't7' }, 50],
    ['a tenant that is none', { tenant: 'none' }, 0],
    ['a tenant and metadata', { tenant: 't7', metadata: { customer: 'c107' } }, 30],
    ['an id', { idPrefix: 'mail-0012' }, 10],
    ['an id and a tag', { idPrefix: 'mail-0012', tags: ['all'] }, 10],
  ] as const;

  test('read no table as a whole', async () => {
    await fill();
    const tables = new Explained(pool, {
      schema: 'devs',
      patience: { awayMs: 0, onAway: () => undefined },
      isPooled: false,
    });
    const lists = new RunLists(tables);
    for (const [name, filter, count] of FILTERS) {
      expect((await lists.list(filter)).runs, name).toHaveLength(count);
      expect((await lists.gates(filter)).gates, name).toHaveLength(count);
    }
    expect(tables.plans).toHaveLength(2 * FILTERS.length);
    for (const plan of tables.plans) {
      expect(plan).not.toMatch(/Seq Scan on (runs|gates|run_labels)/);
      const read = [...plan.matchAll(/actual rows=(\d+)/g)].map(([, rows]) => Number(rows));
      expect(Math.max(...read), plan).toBeLessThanOrEqual(100);
    }
    await cluster.sql(`UPDATE devs.runs SET labels = NULL WHERE run_id LIKE 'mail-0000%'`);
    tables.plans.length = 0;
    const files = new RunFiles(tables, new FileTemplates(tables), { codecs: plainCodecs });
    await new LabelBackfill(tables, files).fill(() => undefined);
    expect(tables.plans.join('\n')).not.toMatch(/Seq Scan on runs/);
    expect(tables.plans.filter((plan) => plan.includes('runs_unlabelled'))).toHaveLength(3);
  });
});

describe('a run that was deleted', () => {
  /** Rows of any table that have a text in them. */
  const rowsWith = async (text: string): Promise<readonly string[]> => {
    const tables = await cluster.sql(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('devs', 'devs_boss')`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await cluster.sql(`SELECT 1 FROM ONLY ${String(name)} t WHERE strpos(t::text, $1) > 0`, [
        text,
      ]);
      found.push(...rows.map(() => String(name)));
    }
    return found.toSorted();
  };

  test('has left no row in any table, wherever it stood', async () => {
    const app = appOver(runs);
    const given = { metadata: { about: 'zebra' }, tags: ['zebra-tag'] };
    await app.run('zebra-waits', {}, given);
    await app.signal('zebra-waits', 'later', { n: 1 }, { by: BY, signalId: 'zebra-signal' });
    await app.start('zebra-queued', {}, given);
    await app.start('zebra-lost', {}, given);
    const [{ name } = { name: '' }] = await cluster.sql('SELECT DISTINCT name FROM devs_boss.job');
    await cluster.sql(`UPDATE devs_boss.job SET priority = 9 WHERE data ->> 'runId' = 'zebra-lost'`);
    expect(await giveUp(cluster.server.url, String(name), new Error('zebra'))).toBe('zebra-lost');
    await app.create('zebra-made', given);
    const before = await rowsWith('zebra');
    for (const each of [
      'devs.runs',
      'devs.gates',
      'devs.gate_events',
      'devs.signals',
      'devs.run_bases',
      'devs.run_labels',
    ])
      expect(before).toContain(each);
    expect((await admin.queue()).deadLetters).toHaveLength(1);
    for (const id of ['zebra-waits', 'zebra-queued', 'zebra-lost', 'zebra-made']) {
      await app.cancel(id);
      await app.run(id, undefined, { throwOnFailure: false });
      await app.delete(id, { by: BY });
    }
    expect(await rowsWith('zebra')).toEqual([]);
    expect((await admin.queue()).deadLetters).toEqual([]);
  });
});

describe('a signal that starts a run', () => {
  const waiting = (over: Runs) =>
    durable(
      new StateGraph(Mail)
        .addNode('wait', async () => ({ said: await waitFor<string>('go') }))
        .addEdge(START, 'wait'),
      { runs: over, graph: 'waiting' },
    );

  test('of several processes at once makes one run, and is one signal', async () => {
    const machines = [cluster.runs(), cluster.runs(), cluster.runs()];
    const apps = machines.map(waiting);
    await Promise.all(machines.map((machine) => machine.list()));
    const ids = Array.from({ length: 8 }, (_, n) => `chat-${n}`);
    const start = { input: {}, tenant: 'acme', metadata: { chat: 1 } };
    const send = (id: string) =>
      Promise.all(apps.map((app) => app.signal(id, 'go', 'hello', { by: BY, signalId: 'update-1', start })));
    const receipts = await Promise.all(ids.map(send));
    for (const sent of receipts) expect(sent.filter(({ isNew }) => isNew)).toHaveLength(1);
    const listed = (await apps[0]?.list({ metadata: { chat: 1 }, tenant: 'acme' }))?.runs ?? [];
    expect(listed.map(({ id }) => id).toSorted()).toEqual(ids);
    for (const [n, id] of ids.entries()) {
      const app = apps[n % apps.length];
      expect(await app?.run(id)).toMatchObject({ status: 'completed', values: { said: 'hello' } });
      const names = [];
      for await (const { name } of app?.follow(id) ?? []) names.push(name);
      expect(names.filter((name) => name === 'SIGNAL_RECEIVED')).toHaveLength(1);
    }
  });
});
