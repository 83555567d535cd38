import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { statOf } from './fileStat.ts';
import { toFileFault } from './sqliteFault.ts';
import { beginOfLog, committed, FRAME_HEADER, logOf } from './writeAheadLog.ts';

/** Where in its header a file says that it has a write-ahead log, once for readers and once for writers. */
const FORMAT_VERSIONS = [18, 19] as const;
const WITHOUT_LOG = 1;

const ATTEMPTS = 3;

interface Origin {
  readonly path: string;
  /** Of the file when the copy was made, as {@link fileVersion} tells it. */
  readonly version: string;
}

const origins = new WeakMap<Database, Origin>();

/** Records which file a connection to a copy in memory shows, as it was then. */
export function setOrigin(db: Database, origin: Origin): void {
  origins.set(db, origin);
}

/** The path of a file that has changed since this connection's copy of it was made, else `null`. */
export function outgrownOrigin(db: Database): string | null {
  const origin = origins.get(db);
  return origin === undefined || fileVersion(origin.path) === origin.version ? null : origin.path;
}

/** The path of the file that a connection shows; `null` in memory without one. */
export function originOf(db: Database): string | null {
  return origins.get(db)?.path ?? (db.memory ? null : db.name);
}

/**
 * The bytes of a state file with every commit of its write-ahead log, for where SQLite cannot open it: it wants to write
 * beside a file even to read it. Nothing is written. Not for a file that this process has open: closing a descriptor of it
 * would drop the locks that SQLite holds.
 *
 * @throws DevsError `STATE_IO` where it cannot be read, or somebody keeps writing to it meanwhile.
 */
export function copyInMemory(path: string): Buffer {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const before = fileVersion(path);
    const file = asWalFile(readOf(path), statOf(logOf(path)) === undefined ? null : readOf(logOf(path)));
    if (fileVersion(path) === before) return file;
  }
  throw new DevsError(`The state file ${path} changed while it was read.`, {
    code: 'STATE_IO',
    remedy: 'Make its folder writable, or read the file when no process writes to it.',
    context: { path },
  });
}

function asWalFile(file: Buffer, log: Buffer | null): Buffer {
  const begin = log === null ? null : beginOfLog(log);
  if (log === null || begin === null) return withoutLog(file);
  const commits = committed(log.subarray(begin.at), begin);
  if (commits === null) return withoutLog(file);
  const { pageSize } = begin;
  const merged = Buffer.alloc(commits.pages * pageSize);
  file.copy(merged);
  for (const [page, at] of commits.frames)
    log.copy(merged, (page - 1) * pageSize, at + FRAME_HEADER, at + FRAME_HEADER + pageSize);
  return withoutLog(merged);
}

/** The bytes of a file, as of one that has no write-ahead log: SQLite opens those in memory. Changes them. */
export function withoutLog(file: Buffer): Buffer {
  if (file.length > FORMAT_VERSIONS[1]) for (const at of FORMAT_VERSIONS) file.writeUInt8(WITHOUT_LOG, at);
  return file;
}

function readOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw toFileFault(error, path);
  }
}

/** What a file and its log are at, by their entries in the file system. */
export function fileVersion(path: string): string {
  const parts = [statOf(path), statOf(logOf(path))];
  return parts
    .map((part) => (part === undefined ? '-' : `${part.ino} ${part.size} ${part.mtimeNs}`))
    .join(', ');
}
