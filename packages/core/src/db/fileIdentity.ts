import type { BigIntStats } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { outgrownOrigin } from './copyInMemory.ts';
import { statOf } from './fileStat.ts';
import { pragmaValue } from './prepare.ts';
import { isLogTruncated, logBytes, logOf } from './writeAheadLog.ts';

/** Which file a path leads to. */
export type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>;

interface WatchedFile {
  readonly path: string;
  readonly file: FileIdentity;
  /** `undefined` where the connection has no write-ahead log. */
  readonly wal: FileIdentity | undefined;
  /** Bytes; the largest seen. */
  size: bigint;
  /** Bytes of the log after a commit of this connection; `null` before the first. */
  logged: bigint | null;
}

const watched = new WeakMap<Database, WatchedFile>();

/**
 * Which file a path leads to now, without opening it; `undefined` if there is none.
 *
 * @throws DevsError `STATE_IO`.
 */
export function identityOf(path: string): FileIdentity | undefined {
  return statOf(path);
}

/**
 * Remembers which file a connection has open, for {@link assertSameFile}. Call it when the connection has read once:
 * its write-ahead log exists from then on and keeps its identity until the connection closes.
 *
 * @param before - What the path led to before the connection was opened.
 * @throws DevsError `STATE_REPLACED` if it leads elsewhere by now: the connection may have either file.
 */
export function watchFile(db: Database, path: string, before: FileIdentity | undefined): void {
  const file = statOf(path);
  if (file === undefined || !isSameIdentity(file, before)) throw fileReplaced(path);
  watched.set(db, { path, file, wal: identityOf(logOf(path)), size: file.size, logged: null });
}

/**
 * Refuses to go on once the open state file is no longer the one at its path: deleted, moved, replaced or truncated,
 * or its write-ahead log deleted or truncated. SQLite would go on and acknowledge commits to a file that nobody finds again.
 *
 * Asks the file system for two entries and opens nothing, so it is cheap enough for every commit: called after one, it
 * keeps the commit from being acknowledged. Does nothing for a database in memory or one that nobody watches.
 *
 * @throws DevsError `STATE_REPLACED`, or `STATE_CORRUPT` if so little is left that SQLite cannot count its pages.
 */
export function assertSameFile(db: Database): void {
  const known = watched.get(db);
  if (known === undefined) return;
  assertIntact(db, known);
  if (known.wal !== undefined) assertSameLog(known, known.wal);
}

/** {@link assertSameFile} after a commit of this connection, and remembers the length of its log for {@link assertIntactFile}. */
export function assertCommitted(db: Database): void {
  const known = watched.get(db);
  if (known === undefined) return;
  assertIntact(db, known);
  if (known.wal !== undefined) known.logged = assertSameLog(known, known.wal);
}

/** @returns Bytes of the log. */
function assertSameLog({ path }: WatchedFile, wal: FileIdentity): bigint {
  const log = statOf(logOf(path));
  if (log === undefined || !isSameIdentity(wal, log)) throw fileReplaced(path);
  return log.size;
}

/**
 * What the file is at, for who waits for a change: another number once another connection, of any process, has committed.
 * Reads one number of the log's index, and holds nothing.
 *
 * @throws DevsError as {@link assertSameFile}; of a copy in memory, which stays as it was, once its file has changed.
 */
export function dataVersion(db: Database): number {
  assertSameFile(db);
  const outgrown = outgrownOrigin(db);
  if (outgrown !== null) throw fileReplaced(outgrown);
  return Number(pragmaValue(db, 'data_version'));
}

/**
 * For the moment before a transaction that writes: a truncated file must be found before a commit moves the log into it,
 * a truncated log before a commit writes behind the gap; either may have its old size back then.
 *
 * @throws DevsError as {@link assertSameFile}.
 */
export function assertIntactFile(db: Database): void {
  const known = watched.get(db);
  if (known === undefined) return;
  assertIntact(db, known);
  if (known.wal === undefined) return;
  // As long as after the last commit, so not cut off. Commits of others since then lie in it.
  const isAsLeft = known.logged !== null && statOf(logOf(known.path))?.size === known.logged;
  if (!isAsLeft && isLogTruncated(db, known.path)) throw fileReplaced(known.path);
}

/**
 * Runs the work of a transaction that writes, and sees that the log was not truncated meanwhile: who holds the right to
 * write is the only one who may change its size.
 *
 * @throws DevsError `STATE_REPLACED`, or what `work` throws.
 */
export function keepingLog<T>(db: Database, work: () => T): T {
  const known = watched.get(db);
  if (known?.wal === undefined) return work();
  const before = logBytes(known.path);
  const result = work();
  if (logBytes(known.path) < before) throw fileReplaced(known.path);
  return result;
}

function assertIntact(db: Database, known: WatchedFile): void {
  const file = statOf(known.path);
  if (file === undefined || !isSameIdentity(file, known.file)) throw fileReplaced(known.path);
  if (file.size < known.size && isTruncated(db, file.size)) throw fileReplaced(known.path);
  known.size = file.size;
}

/** SQLite itself shrinks a file after VACUUM only, and never below the pages it counts. */
function isTruncated(db: Database, size: bigint): boolean {
  if (size === 0n) return true;
  const read = (name: string): number => Number(pragmaValue(db, name));
  return size < BigInt(read('page_count') * read('page_size'));
}

function isSameIdentity(a: FileIdentity, b: FileIdentity | undefined): boolean {
  return a.dev === b?.dev && a.ino === b.ino;
}

function fileReplaced(path: string): DevsError {
  return new DevsError(`The state file ${path} was deleted, replaced or truncated while it was open.`, {
    code: 'STATE_REPLACED',
    remedy: 'Put the original folder back or restore a backup, then run the same command again.',
    context: { path },
  });
}
