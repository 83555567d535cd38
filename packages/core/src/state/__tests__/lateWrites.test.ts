import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import {
  commitLate,
  endLateWrites,
  immediateTransaction,
  leaseFence,
  withNextCommit,
} from '../commits/immediateTransaction.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';
import { aHost, aThread } from './aThread.ts';

const lease = { threadId: 'run-1', epoch: 1 };

const insert = (db: Database, name: string): void =>
  void db.prepare("INSERT INTO events (at, name, payload_json) VALUES (0, ?, '{}')").run(name);
const names = (db: Database): unknown => db.prepare('SELECT name FROM events ORDER BY seq').pluck().all();

/** A late write of a row, and what was committed of it. */
function late(db: Database, name: string, { of = lease, refuse = false } = {}) {
  const told: string[] = [];
  withNextCommit(db, {
    lease: of,
    write: () => {
      insert(db, name);
      if (refuse) throw new RangeError(`${name} is refused`);
    },
    committed: () => void told.push(name),
  });
  return told;
}

describe('a late write', () => {
  test('is in the file with the next commit, in front of what that writes, and told then', ({
    db,
    dbPath,
  }) => {
    const elsewhere = createDatabase({ dbPath });
    const told = late(db, 'first');
    late(db, 'second');
    expect([names(elsewhere), told]).toEqual([[], []]);
    immediateTransaction(db, () => {
      insert(db, 'third');
      expect([names(elsewhere), told]).toEqual([[], []]);
    });
    expect([names(elsewhere), told]).toEqual([['first', 'second', 'third'], ['first']]);
    elsewhere.close();
  });

  test('waits for no commit: not for another part of a transaction, but for a turn of the event loop', async ({
    db,
  }) => {
    const told = late(db, 'first');
    db.transaction(() => {
      immediateTransaction(db, () => {});
      commitLate(db);
      expect(names(db)).toEqual([]);
    }).immediate();
    await setImmediate();
    await setImmediate();
    expect([names(db), told]).toEqual([['first'], ['first']]);
  });

  test('waits on when it is rolled back by what it went with', ({ db }) => {
    const told = late(db, 'first');
    const failing = (): void => {
      expect(names(db)).toEqual(['first']);
      throw new Error('no');
    };
    expect(() => immediateTransaction(db, failing)).toThrow('no');
    expect([names(db), told]).toEqual([[], []]);
    commitLate(db);
    expect([names(db), told]).toEqual([['first'], ['first']]);
  });

  test('that is refused fails nobody else, and stops its run with what comes later of it', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    threads.claim('run-1');
    const other = { threadId: 'run-2', epoch: 7 };
    late(db, 'others', { of: other });
    const told = late(db, 'refused', { refuse: true });
    late(db, 'built on it');
    immediateTransaction(db, () => insert(db, 'work'));
    expect([names(db), told]).toEqual([['others', 'work'], []]);
    const { assertInTx } = leaseFence(db, lease);
    expect(assertInTx).toThrow('refused is refused');
    expect(leaseFence(db, { ...lease, epoch: 2 }).assertInTx).toThrow('is lost');
    endLateWrites(db, lease);
    expect(assertInTx).not.toThrow();
  });

  test('is committed, or is nobody’s any more, when its driver leaves the run', ({ db }) => {
    late(db, 'last');
    endLateWrites(db, lease);
    expect(names(db)).toEqual(['last']);
    late(db, 'lost');
    db.pragma('query_only = ON');
    endLateWrites(db, lease);
    db.pragma('query_only = OFF');
    commitLate(db);
    expect(names(db)).toEqual(['last']);
  });
});

describe('a lease', () => {
  test('is compared once in a transaction, and again when it was claimed in it', ({ db }) => {
    const [first, second] = [aHost(), aHost({ pid: 200 })];
    const threads = new ThreadStore(db, { host: first });
    threads.create(aThread());
    threads.claim('run-1');
    const { assertInTx } = leaseFence(db, lease);
    const rival = new ThreadStore(db, { host: second });
    first.clock = 20_000;
    second.clock = 20_000;
    immediateTransaction(db, () => {
      assertInTx();
      assertInTx();
      expect(rival.claim('run-1')).toMatchObject({ kind: 'claimed' });
      expect(assertInTx).toThrow('is lost');
    });
    expect(assertInTx).toThrow('is lost');
  });
});
