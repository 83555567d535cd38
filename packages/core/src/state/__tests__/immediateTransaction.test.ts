import { rmSync, statSync, truncateSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase, openReadOnly } from '../../db/createDatabase.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';

const REPLACED = expect.objectContaining({ code: 'STATE_REPLACED' });
const INSERT = `INSERT INTO events (at, name, payload_json) VALUES (0, 'X', '"${'x'.repeat(5000)}"')`;

const insert = (db: Database): unknown => immediateTransaction(db, () => db.exec(INSERT));
const count = (db: Database): unknown => db.prepare('SELECT count(*) FROM events').pluck().get();

describe('a write transaction', () => {
  test('is not acknowledged once the file, or its log, is deleted before or during it', ({ db, dbPath }) => {
    insert(db);
    const deletedMeanwhile = (): void => {
      db.exec(INSERT);
      rmSync(`${dbPath}-wal`);
    };
    expect(() => immediateTransaction(db, deletedMeanwhile)).toThrow(REPLACED);
    for (let n = 0; n < 100; n += 1) expect(() => insert(db)).toThrow(REPLACED);
  });

  test('is refused on a truncated file before its commit gives the file its size back', ({ db, dbPath }) => {
    db.pragma('wal_autocheckpoint = 1');
    for (let n = 0; n < 20; n += 1) insert(db);
    truncateSync(dbPath, 4096);
    for (let n = 0; n < 100; n += 1) expect(() => insert(db)).toThrow(REPLACED);
  });

  test.for([
    ['to nothing', () => 0],
    ['to its header', () => 32],
    ['by its last frame', (size: number) => size - 4120],
  ] as const)('is refused once the log was truncated in place %s', ([, left], { db, dbPath }) => {
    for (let n = 0; n < 20; n += 1) insert(db);
    const log = `${dbPath}-wal`;
    truncateSync(log, left(statSync(log).size));
    for (let n = 0; n < 100; n += 1) expect(() => insert(db)).toThrow(REPLACED);
  });

  test('is refused if the log is truncated after it has begun', ({ db, dbPath }) => {
    insert(db);
    const truncatedMeanwhile = (): void => {
      db.exec(INSERT);
      truncateSync(`${dbPath}-wal`, 0);
    };
    expect(() => immediateTransaction(db, truncatedMeanwhile)).toThrow(REPLACED);
    expect(() => insert(db)).toThrow(REPLACED);
  });

  test('goes on beside others that checkpoint and restart the log', ({ db, dbPath }) => {
    const other = createDatabase({ dbPath });
    for (const mode of ['PASSIVE', 'RESTART', 'TRUNCATE']) {
      for (let n = 0; n < 10; n += 1) insert(n % 2 === 0 ? db : other);
      other.pragma(`wal_checkpoint(${mode})`);
      insert(db);
    }
    other.close();
    expect(count(db)).toBe(33);
  });

  test('on a file that takes no writes is refused with a typed error', ({ db, dbPath }) => {
    const reader = openReadOnly({ dbPath });
    expect(() => insert(reader)).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    reader.close();
    insert(db);
  });

  test('inside another is a savepoint: it is undone alone, and committed with the outer one', ({ db }) => {
    immediateTransaction(db, () => {
      insert(db);
      const failing = (): never => {
        db.exec(INSERT);
        throw new Error('no');
      };
      expect(() => immediateTransaction(db, failing)).toThrow('no');
    });
    expect(count(db)).toBe(1);
    expect(db.inTransaction).toBe(false);
  });
});
