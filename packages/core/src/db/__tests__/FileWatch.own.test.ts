import { EventEmitter } from 'node:events';
import type * as Fs from 'node:fs';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase, openWorkingCopy } from '../createDatabase.ts';
import { FileNews, LOOK_EVERY_MS, onNews, tellNews } from '../FileWatch.ts';

/** The file system's part where a test plays it: watchers that are open, and what the next one is refused with. */
const played = vi.hoisted(() => ({
  isOn: false,
  refusal: null as string | null,
  asked: 0,
  open: new Set<{ emit(name: string, ...args: unknown[]): boolean }>(),
}));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof Fs>();
  const watch = (...args: Parameters<typeof Fs.watch>): unknown => {
    if (!played.isOn) return fs.watch(...args);
    played.asked += 1;
    if (played.refusal !== null) throw Object.assign(new Error(played.refusal), { code: played.refusal });
    const watcher = Object.assign(new EventEmitter(), { close: () => played.open.delete(watcher) });
    played.open.add(watcher);
    return watcher;
  };
  return { ...fs, watch };
});

const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate'] as const;

/** Plays the clock and the file system. */
function play(): void {
  Object.assign(played, { isOn: true, refusal: null, asked: 0 });
  played.open.clear();
  vi.useFakeTimers({ toFake: [...TIMERS, 'clearImmediate', 'performance'] });
}

const written = (): void => {
  for (const watcher of played.open) watcher.emit('change', 'change', 'state.sqlite-wal');
};

/** A second connection, which is what another process is to the first. */
function another(dbPath: string): { readonly db: Database; readonly commit: () => void } {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF');
  db.exec('CREATE TABLE IF NOT EXISTS written (n INTEGER)');
  const insert = db.prepare('INSERT INTO written VALUES (1)');
  return { db, commit: () => insert.run() };
}

/** Of the played clock, on which a turn of the event loop takes 1 ms. */
const pass = (ms: number): unknown => vi.advanceTimersByTime(ms);

afterEach(() => {
  vi.useRealTimers();
  played.isOn = false;
});

/** So long the file is asked, as after an event. Then it is watched. */
const BEFORE_WATCHING_MS = 16;
/** And so long now and then. */
const ASKED_FOR_MS = 600;

describe('news of a state file', () => {
  beforeEach(() => {
    // The half second never comes: what wakes is the file.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });

  test('wake whoever waits, at each commit of another connection', async ({ db, dbPath }) => {
    const other = another(dbPath);
    const count = db.prepare<[], number>('SELECT count(*) FROM written').pluck();
    const news = new FileNews(db);
    for (let round = 1; round <= 30; round += 1) {
      other.commit();
      while (count.get() !== round) await news.next(1_000_000);
    }
    news.stop();
    other.db.close();
  });

  test('of before the wait are there when it begins', async ({ db, dbPath }) => {
    const other = another(dbPath);
    const news = new FileNews(db);
    other.commit();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await news.next(1_000_000);
    news.stop();
    other.db.close();
  });

  test('wait for the commit, however early its log was written', async ({ db, dbPath }) => {
    const other = another(dbPath);
    other.db.pragma('cache_size = 5');
    const count = db.prepare<[], number>('SELECT count(*) FROM written').pluck();
    const news = new FileNews(db);
    other.db.exec('BEGIN IMMEDIATE');
    for (let n = 0; n < 5000; n += 1) other.commit();
    await new Promise((resolve) => setTimeout(resolve, 50));
    other.db.exec('COMMIT');
    while (count.get() !== 5000) await news.next(1_000_000);
    news.stop();
    other.db.close();
  });

  test('of this process need no file system', async ({ db }) => {
    Object.assign(played, { isOn: true, refusal: 'ENOSPC' });
    const news = new FileNews(db);
    tellNews(db);
    await news.next(1_000_000);
    news.stop();
  });

  test('end at once for who is told to stop', async ({ db }) => {
    const news = new FileNews(db);
    const stopping = new AbortController();
    const waiting = news.next(1_000_000, stopping.signal);
    stopping.abort();
    await waiting;
    await news.next(1_000_000, stopping.signal);
    news.stop();
  });
});

describe('whoever waits at a state file', () => {
  beforeEach(play);

  test('is told within twice the time that a commit takes to be seen after it was written', ({
    db,
    dbPath,
  }) => {
    const other = another(dbPath);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 240 }), (ms) => {
        let told = 0;
        const stop = onNews(db, () => {
          told += 1;
        });
        written();
        pass(ms);
        expect(told).toBe(0);
        other.commit(); // without an event: it was written before
        pass(ms + 2);
        expect(told).toBe(1);
        stop();
        pass(20);
      }),
      { numRuns: 40 },
    );
    other.db.close();
  });

  test('is told within 3 ms of a commit that is synced for less than 15', ({ db, dbPath }) => {
    const other = another(dbPath);
    for (let ms = 0; ms < 15; ms += 1) {
      let told = 0;
      const stop = onNews(db, () => {
        told += 1;
      });
      written();
      pass(ms);
      other.commit();
      pass(3);
      expect(told).toBe(1);
      stop();
      pass(20);
    }
    other.db.close();
  });

  test('misses no commit, whenever it is made, with one event or none for it', ({ db, dbPath }) => {
    const other = another(dbPath);
    const count = db.prepare<[], number>('SELECT count(*) FROM written').pluck();
    const moment = fc.record({ afterMs: fc.integer({ min: 0, max: 40 }), isWritten: fc.boolean() });
    fc.assert(
      fc.property(fc.array(moment, { minLength: 1, maxLength: 20 }), (moments) => {
        let seen = count.get();
        const stop = onNews(db, () => {
          seen = count.get();
        });
        for (const { afterMs, isWritten } of moments) {
          pass(afterMs);
          other.commit();
          if (isWritten) written();
        }
        written(); // the last one always says so
        const isHeard = played.open.size > 0;
        pass(isHeard ? 15 : 30);
        expect(seen).toBe(count.get());
        stop();
      }),
      { numRuns: 60 },
    );
    other.db.close();
  });

  test('looks at most once in 10 ms and listens at most once in 15, however much is written', ({
    db,
    dbPath,
  }) => {
    const other = another(dbPath);
    let looks = 0;
    const stop = onNews(db, () => {
      looks += 1;
    });
    for (let ms = 0; ms < 1000; ms += 1) {
      pass(1);
      other.commit();
      written();
    }
    expect(looks).toBeGreaterThan(50);
    expect(looks).toBeLessThanOrEqual(100);
    expect(played.asked).toBeLessThanOrEqual(1000 / 15 + 3);
    stop();
    other.db.close();
  });

  test('looks less often where many wait', ({ db, dbPath }) => {
    const other = another(dbPath);
    let looks = 0;
    const stops = Array.from({ length: 1000 }, () =>
      onNews(db, () => {
        looks += 1;
      }),
    );
    for (let ms = 0; ms < 1000; ms += 1) {
      pass(1);
      other.commit();
      written();
    }
    expect(looks).toBeLessThanOrEqual(11_000);
    for (const stop of stops) stop();
    other.db.close();
  });

  test('does not look while nothing is committed, but by the clock', ({ db }) => {
    let looks = 0;
    const stop = onNews(db, () => {
      looks += 1;
    });
    for (let ms = 0; ms < 2 * LOOK_EVERY_MS; ms += 1) {
      written();
      pass(1);
    }
    pass(1);
    expect(looks).toBe(2);
    stop();
  });

  test.for(['ENOENT', 'ENOSPC', 'EMFILE', 'EACCES'])(
    'looks by the clock where watching is refused (%s), until it is not',
    (code, { db, dbPath }) => {
      const other = another(dbPath);
      let looks = 0;
      played.refusal = code;
      const stop = onNews(db, () => {
        looks += 1;
      });
      pass(ASKED_FOR_MS);
      other.commit();
      pass(2 * LOOK_EVERY_MS + 1 - ASKED_FOR_MS);
      expect(looks).toBe(2);
      played.refusal = null;
      pass(LOOK_EVERY_MS);
      expect(looks).toBe(3);
      pass(20);
      other.commit();
      written();
      pass(2);
      expect(looks).toBe(4);
      stop();
      other.db.close();
    },
  );

  test.for(['error', 'rename'])('watches anew after %s', (what, { db, dbPath }) => {
    const other = another(dbPath);
    let looks = 0;
    const stop = onNews(db, () => {
      looks += 1;
    });
    pass(BEFORE_WATCHING_MS);
    const [first] = played.open;
    if (what === 'error') first?.emit('error', new Error('gone'));
    else first?.emit('change', 'rename', null);
    expect(played.open.size).toBe(0);
    pass(LOOK_EVERY_MS);
    expect(played.open.size).toBe(1);
    pass(20);
    looks = 0;
    other.commit();
    written();
    pass(2);
    expect(looks).toBe(1);
    stop();
    other.db.close();
  });

  test('shares one watcher with all at the same connection, which ends with the last', ({ db }) => {
    const stops = [1, 2, 3].map(() => onNews(db, () => undefined));
    expect(played).toMatchObject({ asked: 0 });
    pass(BEFORE_WATCHING_MS);
    expect(played).toMatchObject({ asked: 1, open: { size: 1 } });
    stops[0]?.();
    stops[0]?.();
    stops[1]?.();
    expect(played.open.size).toBe(1);
    written(); // what is asked after it is not asked any more
    stops[2]?.();
    expect(played.open.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    const again = onNews(db, () => undefined);
    pass(BEFORE_WATCHING_MS);
    again();
    expect(played).toMatchObject({ asked: 2, open: { size: 0 } });
  });

  test('for a few milliseconds needs no watcher, and is told all the same', ({ db, dbPath }) => {
    const other = another(dbPath);
    let looks = 0;
    const stop = onNews(db, () => {
      looks += 1;
    });
    other.commit();
    pass(3);
    expect(looks).toBe(1);
    stop();
    expect(played).toMatchObject({ asked: 0, open: { size: 0 } });
    expect(vi.getTimerCount()).toBe(0);
    other.db.close();
  });

  test('is told by the same process after its transaction, at any connection to the file', ({
    db,
    dbPath,
  }) => {
    played.refusal = 'ENOSPC';
    const other = another(dbPath);
    const count = db.prepare<[], number>('SELECT count(*) FROM written').pluck();
    const seen: (number | undefined)[] = [];
    const stop = onNews(db, () => seen.push(count.get()));
    pass(ASKED_FOR_MS);
    seen.length = 0; // by the clock
    for (const connection of [other.db, db]) {
      connection.transaction(() => {
        tellNews(connection);
        connection.exec('INSERT INTO written VALUES (1)');
      })();
      pass(11);
    }
    expect(seen).toEqual([1, 2]);
    stop();
    tellNews(db);
    pass(11);
    expect(seen).toHaveLength(2);
    other.db.close();
  });

  test('is told of a database in memory by its own connection alone, and watches nothing', () => {
    const [db, other] = [createDatabase({ dbPath: ':memory:' }), createDatabase({ dbPath: ':memory:' })];
    let looks = 0;
    const stop = onNews(db, () => {
      looks += 1;
    });
    tellNews(other);
    pass(11);
    expect(looks).toBe(0);
    tellNews(db);
    pass(11);
    expect(looks).toBe(1);
    expect(played.asked).toBe(0);
    stop();
    db.close();
    other.close();
  });

  test('is told of a working copy by its own connection alone, and neither watches nor asks', ({
    dbPath,
  }) => {
    createDatabase({ dbPath }).close();
    const db = openWorkingCopy(dbPath);
    let looks = 0;
    const stop = onNews(db, () => {
      looks += 1;
    });
    const timers = vi.getTimerCount();
    pass(LOOK_EVERY_MS / 2);
    expect([looks, played.asked, timers]).toEqual([0, 0, 1]);
    tellNews(db);
    pass(11);
    expect([looks, played.asked]).toEqual([1, 0]);
    stop();
    db.close();
  });

  test('looks, and finds out itself, where the file cannot be read any more', ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    let looks = 0;
    const stop = onNews(db, () => {
      looks += 1;
    });
    db.close();
    written();
    pass(2);
    expect(looks).toBe(1);
    stop();
  });
});
