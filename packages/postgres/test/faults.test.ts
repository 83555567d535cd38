import { createCipheriv, createDecipheriv } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newerFile, olderFile } from '../../core/test/support/olderFile.ts';
import { postgres, rightsSql, schemaSql } from '../src/index.ts';
import { type Cluster, startCluster, WAITING } from './support/startCluster.ts';
import { startProxy } from './support/startProxy.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ isOwn: true });
  await cluster.runs().list();
});
afterAll(() => cluster.stop());

const urlWith = (change: (url: URL) => void): string => {
  const url = new URL(cluster.server.url);
  change(url);
  return url.href;
};

const tablesOf = async (schema: string): Promise<number> =>
  (await cluster.sql('SELECT 1 FROM pg_tables WHERE schemaname = $1', [schema])).length;

describe('a server that cannot be used is said before anything is done', () => {
  test.each(['', 'not a url', 'mysql://a@b/c', '/var/run/postgres'])('the URL is %j', (url) => {
    expect(() => postgres(url)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  test('nobody listens there: its name is said, and no password', async () => {
    const runs = cluster.runs({ url: 'postgres://me:secret@127.0.0.1:1/there' });
    const error: unknown = await runs.list().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'STATE_IO', message: expect.stringContaining('127.0.0.1:1/there') });
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  test('it does not know the user', async () => {
    const runs = cluster.runs({ url: urlWith((url) => (url.username = 'nobody')) });
    await expect(runs.list()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      context: { postgres: '28000' },
    });
  });

  test('it does not have the database', async () => {
    const runs = cluster.runs({ url: urlWith((url) => (url.pathname = '/elsewhere')) });
    await expect(runs.list()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      context: { postgres: '3D000' },
    });
  });

  test('it acknowledges what it may lose', async () => {
    const url = urlWith((each) => each.searchParams.set('options', '-c synchronous_commit=off'));
    await expect(cluster.runs({ url }).list()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('synchronous_commit'),
    });
  });

  test('the tables are missing, and may not be made', async () => {
    const runs = cluster.runs({ schema: 'unmade', migrate: false });
    await expect(runs.create(cluster.newRun('r'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(await tablesOf('unmade')).toBe(0);
    // Somebody makes them meanwhile.
    await cluster.runs({ schema: 'unmade' }).list();
    expect(await runs.create(cluster.newRun('r'))).toBe(true);
  });

  test('the tables are of an older release, and are raised by who may', async () => {
    await cluster.runs({ schema: 'old' }).list();
    await cluster.sql(
      'DROP SCHEMA old CASCADE; CREATE SCHEMA old; CREATE TABLE old.schema_version (version integer)',
    );
    await expect(cluster.runs({ schema: 'old', migrate: false }).list()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      context: { version: 0 },
    });
    const both = [cluster.runs({ schema: 'old' }), cluster.runs({ schema: 'old' })];
    expect(await Promise.all(both.map((runs) => runs.list()))).toEqual([
      { runs: [], next: null },
      { runs: [], next: null },
    ]);
  });

  test('the tables are of a newer release', async () => {
    await cluster.runs({ schema: 'later' }).list();
    await cluster.sql('UPDATE later.schema_version SET version = version + 1');
    expect(await cluster.runs({ schema: 'later' }).list()).toEqual({ runs: [], next: null });
    await cluster.sql('UPDATE later.schema_version SET oldest = version');
    await expect(cluster.runs({ schema: 'later' }).list()).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' });
  });
});

describe('a role that may only what it needs', () => {
  test('creates, decides, holds, settles and takes out runs, and makes no tables', async () => {
    await cluster.sql(`CREATE ROLE humble LOGIN; ${rightsSql('devs', 'humble')}`);
    const url = urlWith((each) => (each.username = 'humble'));
    const runs = cluster.runs({ url, migrate: false });
    expect(await runs.create(cluster.newRun('humble'))).toBe(true);
    const looked = await runs.open('humble');
    expect(await looked.tell({ id: 'p', kind: 'pause' })).toBe(true);
    looked.close();
    const held = await runs.hold('humble');
    held.db.exec('CREATE TABLE made (body BLOB); INSERT INTO made VALUES (zeroblob(9000000))');
    await held.signals();
    expect(await held.settle({ ...WAITING, until: Date.now() + 1000 })).toBe('settled');
    await held.close();
    expect((await runs.list()).runs.map(({ id }) => id)).toContain('humble');
    const end = await runs.watch('humble', () => undefined);
    end();
    const taken = await runs.hold('humble');
    expect(await taken.remove()).toBe(true);
    await taken.close();
    expect((await runs.list()).runs.map(({ id }) => id)).not.toContain('humble');
    await expect(cluster.runs({ url, schema: 'theirs' }).list()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      context: { postgres: '42501' },
    });
  });

  test('is told which of its rights are missing', async () => {
    await cluster.sql(
      `CREATE ROLE less LOGIN; ${rightsSql('devs', 'less')}; REVOKE UPDATE ON devs.gates FROM less`,
    );
    const runs = cluster.runs({ url: urlWith((each) => (each.username = 'less')), migrate: false });
    await expect(runs.create(cluster.newRun('less'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('UPDATE on gates'),
    });
  });

  test('is what the printed SQL makes a schema for', async () => {
    await cluster.sql(schemaSql('printed'));
    expect(await tablesOf('printed')).toBe(await tablesOf('devs'));
  });
});

describe('a file', () => {
  test('of a newer release is refused before it is claimed', async () => {
    const runs = cluster.runs();
    await runs.create(cluster.newRun('newer'));
    await cluster.sql(`UPDATE devs.runs SET schema_version = 9999 WHERE run_id = 'newer'`);
    await expect(runs.hold('newer')).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' });
    expect(await cluster.sql(`SELECT epoch, owner FROM devs.runs WHERE run_id = 'newer'`)).toEqual([
      { epoch: '0', owner: null },
    ]);
    const run = { ...cluster.newRun('tomorrow'), file: newerFile() };
    await expect(runs.create(run)).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' });
  });

  test('that is none, or of a run without a name, is not taken', async () => {
    const runs = cluster.runs();
    const run = { ...cluster.newRun('none'), file: Buffer.from('SQLite format 3\0 but not really') };
    await expect(runs.create(run)).rejects.toMatchObject({ name: 'DevsError' });
    await expect(runs.create(cluster.newRun('a\0b'))).rejects.toThrow(RangeError);
    expect(await cluster.sql(`SELECT 1 FROM devs.runs WHERE run_id = 'none'`)).toEqual([]);
  });

  test('of an older release is brought up to date by who takes it, whatever that moves', async () => {
    const fill = `
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO hitl_sessions (id, task_id, graph_state_json, suspended_at, resumed_at, status)
      SELECT 's' || i, 't', hex(randomblob(2500)), 1, 2, 'resumed' FROM n`;
    const runs = cluster.runs();
    await runs.create({ ...cluster.newRun('older'), file: olderFile(22, fill) });
    const looked = await runs.open('older');
    expect(looked.db.prepare('SELECT count(*) FROM hitl_sessions').pluck().get()).toBe(300);
    looked.close();
    const held = await runs.hold('older');
    await held.outlet.pending();
    const file = held.db.serialize();
    const after = await runs.open('older');
    expect(after.db.serialize().subarray(20).equals(file.subarray(20))).toBe(true);
    expect(after.db.pragma('integrity_check', { simple: true })).toBe('ok');
    after.close();
    expect(await held.settle(WAITING)).toBe('settled');
    await held.close();
  });

  test('that is too large is not kept: its run goes on from before', async () => {
    const runs = cluster.runs({ maxFileBytes: 2_000_000 });
    const held = await runs.create(cluster.newRun('large')).then(() => runs.hold('large'));
    held.db.exec('CREATE TABLE made (body BLOB)');
    await held.outlet.pending();
    held.db.exec('INSERT INTO made VALUES (zeroblob(2000000))');
    const refused = { code: 'VALUE_TOO_LARGE', remedy: expect.stringContaining('prune') };
    await expect(held.outlet.pending()).rejects.toMatchObject(refused);
    await expect(held.settle(WAITING)).rejects.toMatchObject(refused);
    const file = held.db.serialize();
    await held.close();
    await expect(runs.create({ ...cluster.newRun('larger'), file })).rejects.toMatchObject(refused);
    const next = await runs.hold('large');
    expect(next.db.prepare('SELECT count(*) FROM made').pluck().get()).toBe(0);
    await next.close();
  });

  test('is unreadable for who does not have its codec, and for who reads the database', async () => {
    const codec = (tenant: string) => {
      const key = Buffer.alloc(32, tenant);
      const iv = Buffer.alloc(16, 1);
      const through = (cipher: { update(data: Uint8Array): Buffer; final(): Buffer }, bytes: Uint8Array) =>
        Buffer.concat([cipher.update(bytes), cipher.final()]);
      return {
        encode: (bytes: Uint8Array) => through(createCipheriv('aes-256-cbc', key, iv), bytes),
        decode: (bytes: Uint8Array) => through(createDecipheriv('aes-256-cbc', key, iv), bytes),
      };
    };
    const [one, two] = [cluster.runs({ codec }), cluster.runs({ codec })];
    await one.create({ ...cluster.newRun('sealed'), tenant: 'theirs' });
    const held = await one.hold('sealed');
    held.db.exec(`CREATE TABLE made (body TEXT); INSERT INTO made VALUES ('canary canary canary')`);
    await held.outlet.pending();
    const sql = `SELECT bytes FROM devs.run_changes WHERE run_id = 'sealed'`;
    for (const { bytes } of await cluster.sql(sql)) expect(bytes).not.toContain('canary');
    const looked = await two.open('sealed');
    expect(looked.db.prepare('SELECT body FROM made').pluck().get()).toBe('canary canary canary');
    looked.close();
    await expect(cluster.runs().open('sealed')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    await held.close();
  });

  test('whose changes were damaged is found', async () => {
    const runs = cluster.runs();
    await runs.create(cluster.newRun('damaged'));
    const held = await runs.hold('damaged');
    for (const name of ['a', 'b']) {
      held.db.exec(`CREATE TABLE ${name} (n INTEGER)`);
      await held.outlet.pending();
    }
    await held.close();
    await cluster.sql(`DELETE FROM devs.run_changes WHERE run_id = 'damaged' AND seq = 1`);
    await expect(runs.open('damaged')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    await expect(runs.hold('damaged')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    const sql = `SELECT owner FROM devs.runs WHERE run_id = 'damaged'`;
    expect(await cluster.sql(sql)).toEqual([{ owner: null }]);
  });

  test('has a log that is emptied as it grows', async () => {
    const runs = cluster.runs();
    const held = await runs.create(cluster.newRun('long')).then(() => runs.hold('long'));
    held.db.exec('CREATE TABLE made (n INTEGER PRIMARY KEY, body BLOB)');
    const sizes: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      held.db.exec('INSERT OR REPLACE INTO made VALUES (1, randomblob(3000000))');
      await held.outlet.pending();
      const { log } = held.db.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { readonly log: number };
      sizes.push(log);
    }
    expect(Math.max(...sizes) * 4096).toBeLessThan(12_000_000);
    const looked = await cluster.runs().open('long');
    const sum = 'SELECT hex(body) FROM made';
    expect(looked.db.prepare(sum).pluck().get()).toBe(held.db.prepare(sum).pluck().get());
    looked.close();
    await held.close();
  });
});

describe('PostgreSQL that goes away', () => {
  test('is waited for, which is said, and then it is an error', async () => {
    const proxy = await startProxy(cluster.server.url);
    const told: unknown[] = [];
    const runs = cluster.runs({
      ...{ url: proxy.url, directUrl: cluster.server.url, awayMs: 200 },
      onAway: (why) => void told.push(why === null ? 'back' : 'away'),
    });
    await runs.create(cluster.newRun('away'));
    const held = await runs.hold('away');
    held.db.exec('CREATE TABLE made (n INTEGER)');
    proxy.close();
    await expect(held.outlet.pending()).rejects.toMatchObject({ code: 'STATE_IO' });
    await expect(runs.list()).rejects.toMatchObject({ code: 'STATE_IO' });
    expect(told).toEqual(['away', 'away']);
    await expect(held.close()).rejects.toMatchObject({ code: 'STATE_IO' });
    await runs.close();
  });

  test('is waited for until it is back: what was in hand goes on', async () => {
    const runs = cluster.runs();
    const held = await runs.create(cluster.newRun('back')).then(() => runs.hold('back'));
    held.db.exec('CREATE TABLE made (n INTEGER)');
    const restarted = cluster.server.restart();
    await held.outlet.pending();
    await restarted;
    expect(await held.settle(WAITING)).toBe('settled');
    await held.close();
    expect((await runs.list({ status: 'waiting' })).runs.map(({ id }) => id)).toContain('back');
  });
});
