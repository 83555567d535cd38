import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../test/support/interceptStatements.ts';
import { createDatabase } from '../createDatabase.ts';
import { openParts, transaction } from '../prepare.ts';

const insert = (db: Database, name: string): void =>
  void db.prepare("INSERT INTO events (at, name, payload_json) VALUES (0, ?, '{}')").run(name);
const names = (db: Database): unknown => db.prepare('SELECT name FROM events ORDER BY seq').pluck().all();

const fails = (message: string) => (): never => {
  throw new RangeError(message);
};

/** Statements by which a connection fails from now on, as the disk would have it. */
function failing(db: Database): Set<string> {
  const sources = new Set<string>();
  interceptStatements(
    db,
    (work, { source }) => {
      if (sources.has(source)) throw new BetterSqlite3.SqliteError(source, 'SQLITE_IOERR_WRITE');
      return work();
    },
    { controls: true },
  );
  return sources;
}

const FAULT = expect.objectContaining({ code: 'STATE_IO' });

describe('a transaction', () => {
  test('is the driver’s own, each one, for whoever wraps that on a connection', ({ db }) => {
    transaction(db, 'immediate', () => insert(db, 'before'));
    const spied = vi.spyOn(db, 'transaction');
    for (const name of ['one', 'two']) {
      transaction(db, 'immediate', () => transaction(db, 'immediate', () => insert(db, name)));
    }
    expect(spied).toHaveBeenCalledTimes(2);
    spied.mockRestore();
    const again = vi.spyOn(db, 'transaction');
    expect(() => transaction(db, 'immediate', fails('no'))).toThrow('no');
    expect(again).toHaveBeenCalledTimes(1);
    again.mockRestore();
    transaction(db, 'immediate', () => insert(db, 'after'));
    expect(names(db)).toEqual(['before', 'one', 'two', 'after']);
  });

  test('to write begins at once, and one to read holds up no writer', ({ db, dbPath }) => {
    const other = createDatabase({ dbPath });
    other.pragma('busy_timeout = 0');
    transaction(db, 'deferred', () => {
      expect(names(db)).toEqual([]);
      transaction(other, 'immediate', () => insert(other, 'theirs'));
      expect(names(db)).toEqual([]);
    });
    transaction(db, 'immediate', () => {
      expect(() => other.exec('BEGIN IMMEDIATE')).toThrow('locked');
    });
    other.close();
  });

  test('does no work where it cannot begin, and can be tried again', ({ db }) => {
    const sources = failing(db);
    const work = vi.fn(() => insert(db, 'one'));
    sources.add('BEGIN IMMEDIATE');
    expect(() => transaction(db, 'immediate', work)).toThrow(FAULT);
    expect([work.mock.calls.length, openParts(db), db.inTransaction]).toEqual([0, null, false]);
    sources.clear();
    transaction(db, 'immediate', work);
    expect(names(db)).toEqual(['one']);
  });

  test('whose commit fails is rolled back, and says the fault', ({ db }) => {
    const sources = failing(db);
    let parts: ReturnType<typeof openParts> = null;
    const work = (): void => {
      insert(db, 'one');
      parts = openParts(db);
    };
    sources.add('COMMIT');
    expect(() => transaction(db, 'immediate', work)).toThrow(FAULT);
    sources.clear();
    expect([parts, db.inTransaction, names(db)]).toEqual([[{ isUndone: true }], false, []]);
  });

  test('that cannot be rolled back says what its work has thrown, and is never committed', ({ db }) => {
    const sources = failing(db);
    const work = (): never => {
      insert(db, 'one');
      throw new RangeError('no');
    };
    sources.add('ROLLBACK');
    expect(() => transaction(db, 'immediate', work)).toThrow('no');
    expect(db.inTransaction).toBe(true);
    expect(() => transaction(db, 'immediate', () => insert(db, 'two'))).toThrow(FAULT);
    sources.clear();
    transaction(db, 'immediate', () => insert(db, 'three'));
    expect(names(db)).toEqual(['three']);
  });

  test('a part of which cannot be rolled back is not committed either', ({ db }) => {
    const sources = failing(db);
    sources.add('ROLLBACK TO part');
    const work = (): void => {
      insert(db, 'one');
      expect(() => transaction(db, 'immediate', fails('no'))).toThrow('no');
      expect(() => transaction(db, 'immediate', () => insert(db, 'two'))).toThrow(FAULT);
    };
    expect(() => transaction(db, 'immediate', work)).toThrow(FAULT);
    expect([db.inTransaction, names(db)]).toEqual([false, []]);
    transaction(db, 'immediate', () => insert(db, 'three'));
    expect(names(db)).toEqual(['three']);
  });

  test('that SQLite has rolled back by itself is not committed', ({ db }) => {
    const work = (): void => {
      insert(db, 'one');
      db.exec('ROLLBACK');
      throw new RangeError('no');
    };
    expect(() => transaction(db, 'immediate', work)).toThrow('no');
    expect([db.inTransaction, names(db)]).toEqual([false, []]);
  });

  test('whose work would go on after it is refused, and rolled back', ({ db }) => {
    const work = async (): Promise<void> => insert(db, 'one');
    expect(() => transaction(db, 'immediate', work)).toThrow(TypeError);
    expect([db.inTransaction, names(db)]).toEqual([false, []]);
  });
});
