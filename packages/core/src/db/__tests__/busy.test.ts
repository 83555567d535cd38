import type { Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { otherWriter } from '../../../test/support/otherWriter.ts';
import { NATIVE_BUSY_MS, setBusyTimeout, whenFree } from '../busy.ts';
import { prepare, transaction } from '../prepare.ts';

const write = (db: Database): void =>
  transaction(db, 'immediate', () => {
    prepare(db, "INSERT INTO events (at, name, payload_json) VALUES (0, 'X', '{}')").run();
  });
const rows = (db: Database): unknown => db.prepare('SELECT count(*) FROM events').pluck().get();

/** The shortest of five: a busy machine makes any single one long. */
function leastMs(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const since = performance.now();
    work();
    return performance.now() - since;
  });
  return Math.min(...times);
}

const BUSY = expect.objectContaining({ code: 'STATE_IO', context: { sqlite: 'SQLITE_BUSY' } });

describe('a file that another process writes', () => {
  test('is waited for as long as its connection says, in native waits that are short', ({ db, dbPath }) => {
    expect(db.pragma('busy_timeout', { simple: true })).toBe(NATIVE_BUSY_MS);
    const { hold } = otherWriter(dbPath);
    setBusyTimeout(db, 400);
    hold(2_000);
    const since = performance.now();
    expect(() => write(db)).toThrow(BUSY);
    expect(performance.now() - since).toBeGreaterThan(400);
    setBusyTimeout(db, 30_000);
    write(db);
    expect(rows(db)).toBe(1);
  });

  test('is waited for with the event loop turning, and written once it is free', async ({ db, dbPath }) => {
    const { hold, release } = otherWriter(dbPath);
    const work = vi.fn(() => write(db));
    let turns = 0;
    const beat = setInterval(() => (turns += 1), 5);
    hold(25_000);
    const written = whenFree(db, work);
    await vi.waitFor(() => expect([work.mock.calls.length > 1, turns > 2]).toEqual([true, true]), {
      timeout: 20_000,
    });
    release();
    await written;
    clearInterval(beat);
    expect(rows(db)).toBe(1);
  });

  test('is given up after the time that is said, or when the wait is aborted', async ({ db, dbPath }) => {
    otherWriter(dbPath).hold(60_000);
    await expect(whenFree(db, () => write(db), { forMs: 100 })).rejects.toThrow(BUSY);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    const wait = { forMs: Number.POSITIVE_INFINITY, signal: stop.signal };
    await expect(whenFree(db, () => write(db), wait)).rejects.toThrow(BUSY);
    expect(rows(db)).toBe(0);
  });

  test('is read without waiting', ({ db, dbPath }) => {
    otherWriter(dbPath).hold(60_000);
    expect(leastMs(() => expect(rows(db)).toBe(0))).toBeLessThan(NATIVE_BUSY_MS);
  });
});

test('what work itself throws is thrown at once, and work in a transaction is done at once', async ({
  db,
}) => {
  const fails = vi.fn(() => {
    throw new RangeError('no');
  });
  await expect(whenFree(db, fails)).rejects.toThrow('no');
  expect(fails).toHaveBeenCalledOnce();
  db.exec('BEGIN');
  const done = whenFree(db, () => rows(db));
  db.exec('ROLLBACK');
  expect(await done).toBe(0);
});

test('a connection that waits for nobody is told at once', ({ db, dbPath }) => {
  otherWriter(dbPath).hold(60_000);
  db.pragma('busy_timeout = 0');
  expect(leastMs(() => expect(() => write(db)).toThrow(BUSY))).toBeLessThan(NATIVE_BUSY_MS);
});
