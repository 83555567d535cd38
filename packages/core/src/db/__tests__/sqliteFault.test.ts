import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, test as plain } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { isStorageFault, toFileFault, toStateFault, withStateFaults } from '../sqliteFault.ts';

const sqliteError = (code: string): Error => new BetterSqlite3.SqliteError('raw', code);

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('toStateFault', () => {
  plain.each([
    ['SQLITE_FULL', 'STATE_DISK_FULL'],
    ['SQLITE_IOERR', 'STATE_IO'],
    ['SQLITE_IOERR_FSYNC', 'STATE_IO'],
    ['SQLITE_CANTOPEN', 'STATE_IO'],
    ['SQLITE_READONLY_DBMOVED', 'STATE_REPLACED'],
    ['SQLITE_READONLY_DIRECTORY', 'STATE_IO'],
    ['SQLITE_BUSY', 'STATE_IO'],
    ['SQLITE_BUSY_SNAPSHOT', 'STATE_IO'],
    ['SQLITE_PROTOCOL', 'STATE_IO'],
    ['SQLITE_CORRUPT_VTAB', 'STATE_CORRUPT'],
    ['SQLITE_NOTADB', 'STATE_CORRUPT'],
  ])('types %s as %s and keeps the cause', (sqlite, code) => {
    const raw = sqliteError(sqlite);
    expect(toStateFault(raw)).toMatchObject({ code, context: { sqlite }, cause: raw });
    expect(isStorageFault(raw)).toBe(true);
  });

  plain('leaves everything else to its caller', () => {
    const lease = new DevsError('newer driver', { code: 'LEASE_LOST', remedy: 'none' });
    for (const error of [
      sqliteError('SQLITE_CONSTRAINT_UNIQUE'),
      new Error('x'),
      lease,
      'SQLITE_FULL',
      null,
    ]) {
      expect(toStateFault(error)).toBeNull();
      expect(isStorageFault(error)).toBe(false);
    }
  });

  plain('returns a fault that is typed already', () => {
    const fault = toStateFault(sqliteError('SQLITE_FULL'));
    expect(toStateFault(fault)).toBe(fault);
    expect(isStorageFault(fault)).toBe(true);
  });

  test('types what a damaged file really throws', ({ db, dbPath }) => {
    db.close();
    const behindTheHeader = statSync(dbPath).size - 4096;
    const file = openSync(dbPath, 'r+');
    writeSync(file, Buffer.alloc(behindTheHeader, 0xff), 0, behindTheHeader, 4096);
    closeSync(file);
    const damaged = new BetterSqlite3(dbPath);
    const read = (): unknown => damaged.prepare('SELECT * FROM threads').all();
    expect(thrownBy(() => withStateFaults(read))).toMatchObject({ code: 'STATE_CORRUPT' });
    damaged.close();
  });

  test('types what a full database really throws', ({ db }) => {
    db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`);
    const insert = db.prepare("INSERT INTO events (at, name, payload_json) VALUES (1, 'X', json_quote(?))");
    expect(thrownBy(() => withStateFaults(() => insert.run('x'.repeat(100_000))))).toMatchObject({
      code: 'STATE_DISK_FULL',
    });
  });
});

describe('toFileFault', () => {
  plain('tells a full disk from a path that cannot be used', () => {
    expect(toFileFault({ code: 'ENOSPC' }, '/x')).toMatchObject({ code: 'STATE_DISK_FULL' });
    expect(toFileFault({ code: 'EACCES' }, '/x')).toMatchObject({
      code: 'STATE_IO',
      context: { path: '/x' },
    });
    expect(toFileFault(new Error('odd'), '/x')).toMatchObject({
      code: 'STATE_IO',
      context: { errno: 'UNKNOWN' },
    });
  });
});
