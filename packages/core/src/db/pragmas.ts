import type { Database } from 'better-sqlite3';
import { DevsError, type ErrorCode } from '../errors/DevsError.ts';
import { NATIVE_BUSY_MS, setBusyTimeout } from './busy.ts';
import { pragma, prepare } from './prepare.ts';

/** How a connection treats the file; see {@link applyPragmas}. */
export interface ConnectionPolicy {
  readonly synchronous: 'full' | 'normal';
  /** Milliseconds a statement waits for others that write. */
  readonly busyTimeoutMs: number;
}

/** A setting of a connection that is not what the engine relies on. */
export interface Deviation {
  readonly code: ErrorCode;
  readonly text: string;
}

/** `DEVS` in ASCII; marks a file as the engine's in its header. */
export const APPLICATION_ID = 0x44455653;

/** Bytes the write-ahead log keeps after a checkpoint. */
export const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024;

/**
 * Pages the write-ahead log has when a commit moves it into the file, which waits for the disk twice. Half as often as by
 * SQLite's default, and the log of 8 MiB that this makes stays below {@link JOURNAL_SIZE_LIMIT} while others read.
 */
const AUTOCHECKPOINT_PAGES = 2000;

/** Older ones can corrupt a write-ahead log that several processes use. */
const MIN_SQLITE_VERSION = [3, 51, 3] as const;

const SYNCHRONOUS_LEVEL = { normal: 1, full: 2 } as const;

type PragmaExpectation = readonly [name: string, want: string, holds: (value: unknown) => boolean];

const READ_EXPECTATIONS: readonly PragmaExpectation[] = [
  ['busy_timeout', `at least ${NATIVE_BUSY_MS} ms`, (value) => Number(value) >= NATIVE_BUSY_MS],
  ['trusted_schema', 'off', (value) => value === 0],
  ['cell_size_check', 'on', (value) => value === 1],
];

/**
 * Sets what every writing connection needs.
 *
 * `synchronous` is never left to the driver: better-sqlite3 is compiled so that a file which is in WAL mode already opens
 * as NORMAL, and a power cut may then lose the last commits. FULL is what makes a committed checkpoint durable (law L4);
 * on macOS only with `fullfsync`, since its `fsync` leaves a commit in the cache of the drive.
 */
export function applyPragmas(db: Database, { synchronous, busyTimeoutMs }: ConnectionPolicy): void {
  setBusyTimeout(db, busyTimeoutMs);
  db.pragma(`busy_timeout = ${NATIVE_BUSY_MS}`);
  // Of several processes that open a fresh file at once, one changes its mode; SQLite refuses the others without waiting.
  pragma(db, 'journal_mode = WAL');
  db.pragma(`synchronous = ${synchronous}`);
  for (const name of ['fullfsync', 'checkpoint_fullfsync']) db.pragma(`${name} = ${synchronous === 'full'}`);
  db.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
  db.pragma(`wal_autocheckpoint = ${AUTOCHECKPOINT_PAGES}`);
  db.pragma('foreign_keys = ON');
  overwriteDeleted(db);
  applyReadPragmas(db);
}

/** Overwrites deleted bytes with zeros, on their page and on pages that become free. */
export function overwriteDeleted(db: Database): void {
  db.pragma('secure_delete = ON');
}

/** For the only connection to a file, whose log somebody else reads: no commit moves it into the file. */
export function keepLog(db: Database): void {
  db.pragma('wal_autocheckpoint = 0');
  db.pragma('locking_mode = EXCLUSIVE');
}

/** Moves the log into the file, and empties it; false where a statement still reads, and it stays as it is. */
export function emptyLog(db: Database): boolean {
  return db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
}

/** Sets what a connection that only reads needs. */
export function applyReadPragmas(db: Database): void {
  db.pragma('trusted_schema = OFF');
  db.pragma('cell_size_check = ON');
}

/** What of a writing connection is not as {@link applyPragmas} sets it, read back from SQLite. */
export function pragmaDeviations(
  db: Database,
  synchronous: ConnectionPolicy['synchronous'],
): readonly Deviation[] {
  return deviationsFrom(db, [
    ['journal_mode', 'wal', (value) => value === (db.memory ? 'memory' : 'wal')],
    ['synchronous', synchronous, (value) => Number(value) >= SYNCHRONOUS_LEVEL[synchronous]],
    ['foreign_keys', 'on', (value) => value === 1],
    ['journal_size_limit', `0 to ${JOURNAL_SIZE_LIMIT} bytes`, isJournalLimit],
    ['secure_delete', 'on', (value) => value === 1],
    ['application_id', String(APPLICATION_ID), (value) => value === APPLICATION_ID],
    ...READ_EXPECTATIONS,
  ]);
}

/** @throws DevsError `STATE_IO` or `CONFIG_INVALID` naming every setting that SQLite did not take. */
export function assertPragmas(db: Database, policy: ConnectionPolicy): void {
  assertNone(pragmaDeviations(db, policy.synchronous));
}

/** As {@link assertPragmas}, for a connection that only reads. */
export function assertReadPragmas(db: Database): void {
  assertNone(deviationsFrom(db, READ_EXPECTATIONS));
}

function deviationsFrom(db: Database, expected: readonly PragmaExpectation[]): readonly Deviation[] {
  const deviations = expected
    .map(([name, want, holds]) => ({ name, want, holds, value: db.pragma(name, { simple: true }) }))
    .filter(({ holds, value }) => !holds(value))
    .map(
      ({ name, want, value }): Deviation => ({ code: 'STATE_IO', text: `${name} is ${value}, not ${want}` }),
    );
  return [...versionDeviations(db), ...deviations];
}

function assertNone(deviations: readonly Deviation[]): void {
  const [first] = deviations;
  if (first === undefined) return;
  throw new DevsError(
    `The state file cannot be used safely: ${deviations.map(({ text }) => text).join('; ')}.`,
    {
      code: first.code,
      remedy:
        'Put the state file on a local disk, and use the better-sqlite3 version that @devs/core depends on.',
    },
  );
}

/** True for a version such as `3.51.3` or above. */
export function isSupportedSqlite(version: string): boolean {
  const parts = version.split('.').map(Number);
  const index = MIN_SQLITE_VERSION.findIndex((minimum, position) => parts[position] !== minimum);
  return index === -1 || (parts[index] ?? 0) > (MIN_SQLITE_VERSION[index] ?? 0);
}

function versionDeviations(db: Database): readonly Deviation[] {
  const version = String(prepare(db, 'SELECT sqlite_version()').pluck().get());
  if (isSupportedSqlite(version)) return [];
  return [
    { code: 'CONFIG_INVALID', text: `SQLite is ${version}, older than ${MIN_SQLITE_VERSION.join('.')}` },
  ];
}

/** A negative limit means none. */
function isJournalLimit(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= JOURNAL_SIZE_LIMIT;
}
