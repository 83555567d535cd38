import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { runMigrations } from '../../db/migrate.ts';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { transaction } from '../../db/prepare.ts';
import {
  SELECT_CHANNEL,
  SELECT_CHANNEL_DIGEST,
  SELECT_CHANNEL_HEADS,
  SELECT_CHECKPOINT,
  SELECT_LATEST,
  SELECT_WRITES,
  type TypedBytes,
} from '../checkpoints/checkpointRecords.ts';
import { GraphCheckpointStore } from '../checkpoints/GraphCheckpointStore.ts';

const RUN = { threadId: 'run-1', checkpointNs: '' };
const aValue = (length: number): TypedBytes => ({ type: 'plain', bytes: new Uint8Array(length).fill(65) });
const countOf = (db: Database, what: string): unknown =>
  db.prepare(`SELECT count(${what}) FROM checkpoint_blobs`).pluck().get();

describe('the value of a channel', () => {
  test('lies in its row up to 64 bytes, in a blob above, nowhere for an empty one', ({ db }) => {
    const store = new GraphCheckpointStore(db);
    const values = [aValue(0), aValue(64), aValue(65), null];
    for (const [n, value] of values.entries()) {
      store.saveChannels(RUN, [{ channel: 'a', version: `${n}.5`, value }]);
    }
    expect([countOf(db, 'value'), countOf(db, 'blob_id'), countOf(db, '*')]).toEqual([2, 1, 4]);
    for (const [n, value] of values.entries()) {
      expect(store.loadChannel(RUN, { channel: 'a', version: `${n}.5` })).toEqual(value);
    }
    expect(store.loadChannel(RUN, { channel: 'a', version: '4.5' })).toBeUndefined();
  });

  test('never changes at its version, wherever it lies', ({ db }) => {
    const store = new GraphCheckpointStore(db);
    const save = (value: TypedBytes | null) => () =>
      store.saveChannels(RUN, [{ channel: 'a', version: '1', value }]);
    save(aValue(10))();
    expect(save(aValue(10))).not.toThrow();
    for (const other of [aValue(11), aValue(100), { ...aValue(10), type: 'tagged' }, null]) {
      expect(save(other)).toThrow(expect.objectContaining({ code: 'VALUE_NOT_STORABLE' }));
    }
  });

  test('counts towards the size of its checkpoint, for the connection that wrote it and for any other', ({
    db,
  }) => {
    const store = new GraphCheckpointStore(db);
    store.saveChannels(RUN, [{ channel: 'a', version: '1', value: aValue(10) }]);
    store.saveChannels(RUN, [{ channel: 'b', version: '1', value: aValue(100) }]);
    store.saveChannels(RUN, [{ channel: 'c', version: '1', value: null }]);
    const versions = { a: 1, b: 1, c: 1, never: 1 };
    const sizes = Object.entries({ a: 10, b: 100, c: 0, never: 0 });
    expect(store.sizesOfChannels(RUN, versions)).toEqual(sizes);
    expect(new GraphCheckpointStore(db).sizesOfChannels(RUN, versions)).toEqual(sizes);
  });

  test('counts towards it before it is written', ({ db }) => {
    const store = new GraphCheckpointStore(db);
    store.expectChannels(RUN, [{ channel: 'a', version: '1', value: aValue(10) }]);
    expect(store.sizesOfChannels(RUN, { a: 1 })).toEqual([['a', 10]]);
    expect(store.sizesOfChannels(RUN, { a: 2 })).toEqual([['a', 0]]);
  });

  test('is stored as what changed, also by a connection that did not write the one before', ({ db }) => {
    const text = (end: string) => ({ type: 'plain', bytes: new TextEncoder().encode(noise() + end) });
    new GraphCheckpointStore(db).saveChannels(RUN, [{ channel: 'a', version: '9.1', value: text('') }]);
    const other = new GraphCheckpointStore(db);
    other.saveChannels(RUN, [{ channel: 'a', version: '10.1', value: text(' and more') }]);
    expect(db.prepare('SELECT count(base_id) FROM state_blobs').pluck().get()).toBe(1);
  });

  test('that an older engine put in a blob is read from there, and kept', () => {
    const db = new BetterSqlite3(':memory:');
    runMigrations(
      db,
      MIGRATIONS.filter(({ version }) => version < 21),
    );
    db.exec(`
      INSERT INTO state_blobs (blob_id, sha256, size, encoding, bytes)
      VALUES (7, x'559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd', 1, 'raw', CAST('A' AS BLOB));
      INSERT INTO checkpoint_blobs VALUES ('run-1', '', 'a', '1.5', 'plain', 7), ('run-1', '', 'b', '1.5', 'empty', NULL)`);
    runMigrations(db);
    const store = new GraphCheckpointStore(db);
    expect(store.loadChannel(RUN, { channel: 'a', version: '1.5' })).toEqual(aValue(1));
    expect(store.loadChannel(RUN, { channel: 'b', version: '1.5' })).toBeNull();
    expect(store.sizesOfChannels(RUN, { a: 1.5, b: 1.5 })).toEqual([
      ['a', 1],
      ['b', 0],
    ]);
    db.close();
  });
});

describe('checkpoints', () => {
  const json = (value: unknown): TypedBytes => ({
    type: 'plain',
    bytes: new TextEncoder().encode(JSON.stringify(value)),
  });
  const save = (store: GraphCheckpointStore, checkpointId: string, text = checkpointId): void =>
    store.saveCheckpoint({
      ...{ ...RUN, checkpointId, parentId: null },
      ...{ checkpoint: json({ text }), metadata: json({}) },
    });
  const orderOf = (db: Database): unknown =>
    db.prepare('SELECT checkpoint_id FROM checkpoints ORDER BY seq').pluck().all();

  test('are in the order in which connections put them in turn', ({ dbPath }) => {
    const files = [createDatabase({ dbPath }), createDatabase({ dbPath })] as const;
    const stores = files.map((file) => new GraphCheckpointStore(file));
    const ids = ['e', 'd', 'c', 'b', 'a', 'f'];
    for (const [nth, id] of ids.entries()) save(stores[Math.floor(nth / 2) % 2] as GraphCheckpointStore, id);
    expect(orderOf(files[0])).toEqual(ids);
    for (const id of ids) expect(stores[0]?.load({ ...RUN, checkpointId: id })).not.toBeNull();
    for (const file of files) file.close();
  });

  test('keep their places when they are put again, or the last one was undone', ({ db }) => {
    const store = new GraphCheckpointStore(db);
    for (const id of ['a', 'b', 'c']) save(store, id);
    save(store, 'b', 'other');
    const undone = (): void => {
      save(store, 'undone');
      throw new Error('undone');
    };
    expect(() => transaction(db, 'immediate', undone)).toThrow('undone');
    for (const id of ['d', 'a']) save(store, id);
    expect(orderOf(db)).toEqual(['a', 'b', 'c', 'd']);
    expect(store.load({ ...RUN, checkpointId: 'b' })?.checkpoint).toEqual(json({ text: 'other' }));
    for (const checkpointId of ['a', 'b', 'c', 'd']) {
      const stored = store.load({ ...RUN, checkpointId });
      expect(stored !== null && store.loadChannels(stored, [])).toEqual([]);
    }
  });

  test('count the writes of many tasks, those that are there and those that replace others', ({ db }) => {
    const store = new GraphCheckpointStore(db);
    save(store, 'a');
    const at = { ...RUN, checkpointId: 'a' };
    const write = (idx: number) => ({
      taskId: 'task',
      idx,
      taskPath: '',
      channel: `c${idx}`,
      value: aValue(idx + 9),
    });
    const writes = [-3, -1, ...Array.from({ length: 40 }, (_, idx) => idx)].map(write);
    store.saveWrites(at, writes);
    store.saveWrites(at, writes);
    expect(store.loadWrites(at)).toHaveLength(42);
    expect(db.prepare('SELECT writes FROM checkpoints').pluck().get()).toBe(42);
    save(store, 'b');
    expect(orderOf(db)).toEqual(['a', 'b']);
  });
});

describe('the statements of a checkpoint', () => {
  test.for([
    [
      'a channel',
      SELECT_CHANNEL,
      /^SEARCH checkpoint_blobs USING PRIMARY KEY \(thread_id=\? .*channel=\?\)$/,
    ],
    [
      'what it is known by',
      SELECT_CHANNEL_DIGEST,
      /^SEARCH c USING PRIMARY KEY \(thread_id=\? .*channel=\?\)/,
    ],
    [
      'the last values of all',
      SELECT_CHANNEL_HEADS,
      /^SEARCH checkpoint_blobs USING PRIMARY KEY \(thread_id=\? AND checkpoint_ns=\?\)/,
    ],
    ['a checkpoint', SELECT_CHECKPOINT, /^SEARCH checkpoints USING INDEX .* AND checkpoint_id=\?\)$/],
    ['the newest', SELECT_LATEST, /^SEARCH checkpoints USING INDEX checkpoints_by_namespace .*\)$/],
    [
      'its writes',
      SELECT_WRITES,
      /^SEARCH checkpoint_writes USING PRIMARY KEY \(thread_id=\? .*checkpoint_id=\?\)$/,
    ],
  ] as const)('read %s without a look at other rows', ([, sql, plan], { db }) => {
    const names = [...sql.matchAll(/@(\w+)/g)].map(([, key]) => [key, '']);
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names));
    expect(steps.map((step) => (step as { readonly detail: string }).detail).join('; ')).toMatch(plan);
  });
});

function noise(): string {
  return Array.from({ length: 600 }, (_, n) => String.fromCharCode(33 + ((n * n * 31) % 90))).join('');
}
