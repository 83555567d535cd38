import { type FSWatcher, watch } from 'node:fs';
import { resolve } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { News } from '../events/News.ts';
import { prepare } from './prepare.ts';
import { isWorkingCopy } from './workingCopies.ts';
import { logOf } from './writeAheadLog.ts';

/** How often everybody who waits looks, told or not, ms: what no file system reports is found by this. */
export const LOOK_EVERY_MS = 500;

/** Between two rounds of looks, ms, however much is written; each ten who wait make it one more. */
const REST_MS = 10;

/**
 * After an event it is asked whether a commit can be seen: the log is written first, then synced, and can be read after
 * that. Most disks need less than 15 ms, in which it is asked every other one, and nothing is listened to: however much is
 * written, there are few events. Then after 16 ms, 32, 64, …
 */
const CLOSE_QUESTIONS = 8;
const CLOSE_GAP_MS = 2;
const LAST_GAP_MS = 256;

type Key = string | Database;

const watches = new WeakMap<Database, FileWatch>();

/** Those at which somebody waits, by the file: several connections of a process may have it open. */
const waitedAt = new Map<Key, Set<FileWatch>>();

/**
 * Calls `listener` soon after others have written to the file that `db` has open, after {@link tellNews}, and every
 * {@link LOOK_EVERY_MS}: it looks for itself whether that is of interest. Armed when this returns, so whoever looks after
 * it misses nothing. Never called before this returns, never more than once in 10 ms, and keeps no process alive.
 *
 * @returns What ends it.
 */
export function onNews(db: Database, listener: () => void): () => void {
  const known = watches.get(db) ?? new FileWatch(db);
  watches.set(db, known);
  return known.listen(listener);
}

/**
 * Tells whoever waits in this process, at any connection to the file of `db`, that there is something to look at. They look
 * when the transaction that writes it has ended.
 */
export function tellNews(db: Database): void {
  if (waitedAt.size === 0) return;
  for (const watch of waitedAt.get(watchKey(db)) ?? []) watch.tell();
}

/** Whether the file of `db` can be watched, where somebody waits for its news: else only the clock finds the writes of others. */
export const isWatched = (db: Database): boolean => watches.get(db)?.isBlind !== true;

/** Only its own connection writes to a database in memory, and to a working copy. */
const watchKey = (db: Database): Key => (db.memory || isWorkingCopy(db) ? db : resolve(db.name));

/**
 * The write-ahead log of one connection, watched while somebody waits. It exists as long as the connection is open, and
 * SQLite has no locks on it: where watching opens it, closing that drops none. The file itself must not be watched.
 */
class FileWatch {
  readonly #key: Key;
  readonly #listeners = new Set<() => void>();
  readonly #dataVersion: Statement<[], number>;
  #watcher: FSWatcher | undefined;
  #net: NodeJS.Timeout | undefined;
  #question: NodeJS.Timeout | undefined;
  /** Questions since the last event, or since somebody waits. */
  #asked = 0;
  #version: number | null = null;
  #isToTell = false;
  #isBlind = false;
  /** When the next round may be, on the clock of `performance`. */
  #restedAt = 0;

  constructor(db: Database) {
    this.#key = watchKey(db);
    this.#dataVersion = prepare<[], number>(db, 'PRAGMA data_version').pluck();
  }

  get isBlind(): boolean {
    return this.#isBlind;
  }

  listen(listener: () => void): () => void {
    const own = (): void => listener();
    if (this.#listeners.size === 0) this.#begin();
    this.#listeners.add(own);
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#end();
    };
  }

  tell(): void {
    if (this.#isToTell) return;
    this.#isToTell = true;
    const restMs = this.#restedAt - performance.now();
    if (restMs > 0) setTimeout(() => this.#round(), restMs).unref();
    else setImmediate(() => this.#round()); // not unref'd: an idle loop would first wait for something else
  }

  #begin(): void {
    const all = waitedAt.get(this.#key) ?? new Set();
    waitedAt.set(this.#key, all.add(this));
    this.#net = setInterval(() => this.#byTheClock(), LOOK_EVERY_MS).unref();
    this.#version = this.#seenVersion();
    // As after an event. A short wait is over before the log is watched.
    if (typeof this.#key === 'string') this.#askSoon();
  }

  #end(): void {
    const all = waitedAt.get(this.#key);
    all?.delete(this);
    if (all?.size === 0) waitedAt.delete(this.#key);
    clearInterval(this.#net);
    clearTimeout(this.#question);
    this.#disarm();
  }

  #round(): void {
    this.#isToTell = false;
    this.#restedAt = performance.now() + Math.max(REST_MS, this.#listeners.size / 10);
    for (const listener of [...this.#listeners]) listener();
  }

  #byTheClock(): void {
    this.#arm(); // before they look
    this.tell();
  }

  /** Where that is impossible (no log, no such file system, no watches left), the clock alone is what wakes. */
  #arm(): void {
    if (this.#watcher !== undefined || typeof this.#key !== 'string') return;
    try {
      this.#watcher = watch(logOf(this.#key), { persistent: false })
        .on('error', () => this.#disarm())
        .on('change', () => this.#noticed());
      this.#isBlind = false;
    } catch {
      this.#isBlind = true; // it is tried again by the clock
    }
  }

  #disarm(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** One event is enough; of a log that has another name or none, it was the last. */
  #noticed(): void {
    this.#disarm();
    this.#askSoon();
  }

  #askSoon(): void {
    this.#asked = 0;
    this.#askAfter(1);
  }

  #askAfter(ms: number): void {
    clearTimeout(this.#question);
    this.#question = setTimeout(() => this.#ask(), ms).unref();
  }

  #ask(): void {
    this.#asked += 1;
    const others = this.#asked - CLOSE_QUESTIONS;
    if (others >= 0) this.#arm();
    const version = this.#seenVersion();
    if (version !== this.#version) this.tell();
    this.#version = version;
    const gapMs = others < 0 ? CLOSE_GAP_MS : CLOSE_GAP_MS * CLOSE_QUESTIONS * 2 ** others;
    if (gapMs <= LAST_GAP_MS) this.#askAfter(gapMs);
  }

  /** Another number after each commit of another connection; `null` where it cannot be read: who looks finds out why. */
  #seenVersion(): number | null {
    try {
      return this.#dataVersion.get() ?? null;
    } catch {
      return null;
    }
  }
}

/**
 * News of a state file. Made before the first look, nothing is missed between two; see `onNews`. Stop it when done.
 *
 * @example
 * ```ts
 * const news = new FileNews(db);
 * while (!hasCome()) await news.next(500, signal);
 * news.stop();
 * ```
 */
export class FileNews extends News {
  readonly stop: () => void;

  constructor(db: Database) {
    super();
    this.stop = onNews(db, () => this.tell());
  }
}
