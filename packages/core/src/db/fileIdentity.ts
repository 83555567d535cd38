import { type BigIntStats, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { withStateFaults } from './sqliteFault.ts';

/** Which file a path leads to. */
export type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>;

interface WatchedFile {
  readonly path: string;
  readonly file: FileIdentity;
  /** `undefined` where the connection has no write-ahead log. */
  readonly wal: FileIdentity | undefined;
  /** Bytes; the largest seen. */
  size: bigint;
}

const watched = new WeakMap<Database, WatchedFile>();

/** Which file a path leads to now, without opening it; `undefined` if there is none. */
export function identityOf(path: string): FileIdentity | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/**
 * Remembers which file a connection has open, for {@link assertSameFile}. Call it when the connection has read once:
 * its write-ahead log exists from then on and keeps its identity until the connection closes.
 *
 * @param before - What the path led to before the connection was opened.
 * @throws DevsError `STATE_REPLACED` if it leads elsewhere by now: the connection may have either file.
 */
export function watchFile(db: Database, path: string, before: FileIdentity | undefined): void {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (file === undefined || !isSame(file, before)) throw replaced(path);
  watched.set(db, { path, file, wal: identityOf(walOf(path)), size: file.size });
}

/**
 * Refuses to go on once the open state file is no longer the one at its path: deleted, moved, replaced or truncated,
 * or its write-ahead log deleted. SQLite would go on and acknowledge commits to a file that nobody finds again.
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
  if (known.wal !== undefined && !isSame(known.wal, identityOf(walOf(known.path))))
    throw replaced(known.path);
}

/**
 * {@link assertSameFile} without the write-ahead log, for the moment before a commit: a truncated file must be found
 * before the commit moves the log into it, which may give the file its old size back.
 *
 * @throws DevsError as {@link assertSameFile}.
 */
export function assertIntactFile(db: Database): void {
  const known = watched.get(db);
  if (known !== undefined) assertIntact(db, known);
}

function assertIntact(db: Database, known: WatchedFile): void {
  const file = statSync(known.path, { bigint: true, throwIfNoEntry: false });
  if (file === undefined || !isSame(file, known.file)) throw replaced(known.path);
  if (file.size < known.size && isTruncated(db, file.size)) throw replaced(known.path);
  known.size = file.size;
}

/** SQLite itself shrinks a file after VACUUM only, and never below the pages it counts. */
function isTruncated(db: Database, size: bigint): boolean {
  if (size === 0n) return true;
  const read = (name: string): number => Number(withStateFaults(() => db.pragma(name, { simple: true })));
  return size < BigInt(read('page_count') * read('page_size'));
}

function isSame(a: FileIdentity, b: FileIdentity | undefined): boolean {
  return a.dev === b?.dev && a.ino === b.ino;
}

function walOf(path: string): string {
  return `${path}-wal`;
}

function replaced(path: string): DevsError {
  return new DevsError(`The state file ${path} was deleted, replaced or truncated while it was open.`, {
    code: 'STATE_REPLACED',
    remedy: 'Put the original folder back or restore a backup, then run the same command again.',
    context: { path },
  });
}
