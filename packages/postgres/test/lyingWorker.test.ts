import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rightsSql } from '../src/index.ts';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { query } from './support/query.ts';
import { type Cluster, startCluster, WAITING } from './support/startCluster.ts';

/** What docs/internals/security.md says of who has the rights of a worker, and does not do what a worker does. */
let cluster: Cluster;
let honest: PostgresRuns;
let url: string;
beforeAll(async () => {
  cluster = await startCluster();
  honest = cluster.runs();
  await honest.create({ ...cluster.newRun('theirs'), tenant: 'acme' });
  await cluster.sql(`DO $$ BEGIN CREATE ROLE liar LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
  await cluster.sql(rightsSql('devs', 'liar'));
  const named = new URL(cluster.server.url);
  named.username = 'liar';
  url = named.href;
});
afterAll(() => cluster.stop());

const lie = (sql: string, values: readonly unknown[] = []) => query(url, sql, values);

const tableOf = async (id: string, table: string): Promise<unknown> => {
  const looked = await honest.open(id);
  try {
    return looked.db.prepare('SELECT count(*) FROM sqlite_schema WHERE name = ?').pluck().get(table);
  } finally {
    looked.close();
  }
};

describe('who has the rights of a worker', () => {
  test('reads the files of all tenants', async () => {
    const runs = cluster.runs({ url, migrate: false });
    const looked = await runs.open('theirs');
    expect(looked.db.prepare('SELECT count(*) FROM threads').pluck().get()).toBe(0);
    looked.close();
    expect(await lie(`SELECT tenant FROM devs.runs WHERE run_id = 'theirs'`)).toEqual([{ tenant: 'acme' }]);
  });

  test('reads them as bytes that mean nothing where they are encrypted', async () => {
    const codec = {
      encode: (bytes: Uint8Array) => Buffer.from(bytes).map((byte) => byte ^ 0x5a),
      decode: (bytes: Uint8Array) => Buffer.from(bytes).map((byte) => byte ^ 0x5a),
    };
    await cluster.runs({ codec: () => codec }).create(cluster.newRun('sealed'));
    const runs = cluster.runs({ url, migrate: false });
    await expect(runs.open('sealed')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  });

  test('forges a file: a claim of his own and any page in it, and nobody can tell', async () => {
    const runs = cluster.runs({ url, migrate: false });
    await honest.create(cluster.newRun('forged'));
    const held = await runs.hold('forged');
    held.db.exec('CREATE TABLE planted (n INTEGER)');
    expect(await held.settle(WAITING)).toBe('settled');
    await held.close();
    expect(await tableOf('forged', 'planted')).toBe(1);
  });

  test('decides in any name, as who writes a state file does', async () => {
    const signal = { id: 'd', kind: 'message', name: 'yes', payload: null, by: { kind: 'human', id: 'ada' } };
    await lie(`UPDATE devs.runs SET wake_seq = wake_seq + 1 WHERE run_id = 'theirs'`);
    await lie(
      `INSERT INTO devs.signals (run_id, seq, id, signal) SELECT run_id, wake_seq, 'd', $1 FROM devs.runs WHERE run_id = 'theirs'`,
      [JSON.stringify({ ...signal, signalId: 'd' })],
    );
    const looked = await honest.open('theirs');
    expect(looked.signals).toMatchObject([{ by: { kind: 'human', id: 'ada' } }]);
    looked.close();
  });

  test('puts pages in the place of a worker’s, who does not notice: who reads the file next does, by its sum', async () => {
    await honest.create(cluster.newRun('kept'));
    const held = await honest.hold('kept');
    held.db.exec('CREATE TABLE mine (n INTEGER)');
    await held.outlet.pending();
    await lie(`UPDATE devs.runs SET head_seq = head_seq + 1 WHERE run_id = 'kept'`);
    await lie(
      `INSERT INTO devs.run_changes (run_id, seq, bytes) SELECT run_id, head_seq, 'pages' FROM devs.runs WHERE run_id = 'kept'`,
    );
    held.db.exec('CREATE TABLE more (n INTEGER)');
    await held.outlet.pending(); // as if it had been sent before, and its answer was lost
    await expect(honest.open('kept')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    await held.close();
  });

  test('takes runs away, gives them up, and deletes them', async () => {
    await honest.create(cluster.newRun('lost'));
    const held = await honest.hold('lost');
    await lie(`UPDATE devs.runs SET lease = gen_random_uuid() WHERE run_id = 'lost'`);
    held.db.exec('CREATE TABLE mine (n INTEGER)');
    await expect(held.outlet.pending()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await held.close();
    await lie(`DELETE FROM devs.runs WHERE run_id = 'lost'`);
    await expect(honest.open('lost')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });

  test.each([
    'DROP TABLE devs.runs',
    'TRUNCATE devs.run_changes',
    'ALTER TABLE devs.runs ADD COLUMN n integer',
    'CREATE TABLE devs.mine (n integer)',
    'CREATE TRIGGER mine AFTER INSERT ON devs.runs FOR EACH ROW EXECUTE FUNCTION devs.tell_news()',
    `CREATE OR REPLACE FUNCTION devs.tell_news() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
    'UPDATE devs.file_templates SET bytes = bytes',
    'UPDATE devs.run_changes SET bytes = bytes',
    'UPDATE devs.run_bases SET bytes = bytes',
    'UPDATE devs.schema_version SET version = 0',
    'SET ROLE postgres',
  ])('may not: %s', async (sql) => {
    await expect(lie(sql)).rejects.toMatchObject({ code: expect.stringMatching(/^42501|^22023|^42704/) });
  });
});
