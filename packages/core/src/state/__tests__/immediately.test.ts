import { rmSync, truncateSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { openReadOnly } from '../../db/createDatabase.ts';
import { immediately } from '../immediately.ts';

const REPLACED = expect.objectContaining({ code: 'STATE_REPLACED' });
const INSERT = `INSERT INTO events (at, name, payload_json) VALUES (0, 'X', '"${'x'.repeat(5000)}"')`;

const insert = (db: Database): unknown => immediately(db, () => db.exec(INSERT));
const count = (db: Database): unknown => db.prepare('SELECT count(*) FROM events').pluck().get();

describe('a write transaction', () => {
  test('is not acknowledged once the file, or its log, is deleted before or during it', ({ db, dbPath }) => {
    insert(db);
    const deletedMeanwhile = (): void => {
      db.exec(INSERT);
      rmSync(`${dbPath}-wal`);
    };
    expect(() => immediately(db, deletedMeanwhile)).toThrow(REPLACED);
    for (let n = 0; n < 100; n += 1) expect(() => insert(db)).toThrow(REPLACED);
  });

  test('is refused on a truncated file before its commit gives the file its size back', ({ db, dbPath }) => {
    db.pragma('wal_autocheckpoint = 1');
    for (let n = 0; n < 20; n += 1) insert(db);
    truncateSync(dbPath, 4096);
    for (let n = 0; n < 100; n += 1) expect(() => insert(db)).toThrow(REPLACED);
  });

  test('on a file that takes no writes is refused with a typed error', ({ db, dbPath }) => {
    const reader = openReadOnly({ dbPath });
    expect(() => insert(reader)).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    reader.close();
    insert(db);
  });

  test('inside another is a savepoint: it is undone alone, and committed with the outer one', ({ db }) => {
    immediately(db, () => {
      insert(db);
      const failing = (): never => {
        db.exec(INSERT);
        throw new Error('no');
      };
      expect(() => immediately(db, failing)).toThrow('no');
    });
    expect(count(db)).toBe(1);
    expect(db.inTransaction).toBe(false);
  });
});
