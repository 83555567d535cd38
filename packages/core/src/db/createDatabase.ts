import { join, resolve } from 'node:path';
import type { Database, Options } from 'better-sqlite3';
import { BUSY_TIMEOUT_MS } from '../config/defaults.ts';
import { DevsError, isDevsError } from '../errors/DevsError.ts';
import { MIN_BUSY_TIMEOUT_MS, NATIVE_BUSY_MS, setBusyTimeout } from './busy.ts';
import { assertCipherDriver, connect, connectKeyed, MEMORY } from './connect.ts';
import { copyInMemory, fileVersion, setOrigin, withoutLog } from './copyInMemory.ts';
import { driverKey, type EncryptionKey, withKeyFaults } from './encryptionKey.ts';
import { ensureStateFile } from './ensureStateFile.ts';
import { identityOf, watchFile } from './fileIdentity.ts';
import { statOf } from './fileStat.ts';
import { hasLedger, pendingMigrations } from './ledger.ts';
import { runMigrations } from './migrate.ts';
import { recordOpen } from './openFiles.ts';
import { assertOwnSchema } from './ownSchema.ts';
import {
  APPLICATION_ID,
  applyPragmas,
  applyReadPragmas,
  assertPragmas,
  assertReadPragmas,
  type ConnectionPolicy,
  keepLog,
  overwriteDeleted,
  pragmaDeviations,
} from './pragmas.ts';
import { pragma, pragmaValue, prepare } from './prepare.ts';
import { withStateFaults } from './sqliteFault.ts';
import { markWorkingCopy } from './workingCopies.ts';

/** Where the state file is: its path, or the folder whose `.devs/state.sqlite` it is. */
export type StateFileLocation =
  | { readonly dbPath: string; readonly fromDir?: never }
  | { readonly fromDir: string; readonly dbPath?: never };

/** Options of {@link createDatabase}. */
export type CreateDatabaseOptions = StateFileLocation & Partial<ConnectionPolicy> & Keyed;

interface Keyed {
  /**
   * Of an encrypted file, or of one that is to be: with its log and its backups it holds no readable byte then. A file without
   * key is encrypted by `rekey`. Needs the driver `better-sqlite3-multiple-ciphers`.
   */
  readonly encryptionKey?: EncryptionKey | undefined;
}

const COUNT_OBJECTS = 'SELECT count(*) FROM sqlite_schema';

let defaultDatabase: Database | undefined;

/**
 * Opens the state file for writing. Creates it and its folder if missing, sets pragmas, then applies migrations.
 * `:memory:` opens a private database that ends with the connection.
 *
 * ```ts
 * const db = createDatabase({ dbPath: '.devs/state.sqlite' });
 * ```
 *
 * The engine waits for other writers in many short waits; your own statements on this connection wait for the first
 * one, 250 ms.
 *
 * @param options - `busyTimeoutMs`: longest wait for a write, in milliseconds (default 30,000, at least 5,000).
 *   `synchronous` defaults to `full`.
 * @throws DevsError `STATE_IO`, `STATE_DISK_FULL`, `STATE_CORRUPT`, `STATE_REPLACED`, `CONFIG_INVALID`,
 *   `SCHEMA_FOREIGN`, `STATE_KEY_MISMATCH` for a missing, wrong or unnecessary key, or those of `runMigrations`. A
 *   rejected file is not written to.
 */
export function createDatabase(options: CreateDatabaseOptions): Database {
  const policy = policyOf(options);
  const path = stateFilePath(options);
  const key = keyForDriver(path, options);
  if (path !== MEMORY) {
    ensureStateFile(path);
    refuseUnusable(path, key);
  }
  return openAndSetUp(path, { key, timeout: NATIVE_BUSY_MS }, (db) => {
    applyPragmas(db, policy);
    claimFile(db);
    assertPragmas(db, policy);
    bringUpToDate(db);
  });
}

/**
 * Opens an existing state file for reading, next to a running engine. Applies no migration. On a read-only or full file
 * system it opens a copy in memory, except for an encrypted file.
 *
 * @throws DevsError `STATE_IO` if the file is missing or unreachable, `CONFIG_INVALID` if it is not a state file,
 *   `STATE_KEY_MISMATCH` as {@link createDatabase}, `SCHEMA_TOO_NEW`, `MIGRATION_EDITED`, `MIGRATION_GAP`.
 */
export function openReadOnly(options: CreateDatabaseOptions): Database {
  const { busyTimeoutMs } = policyOf(options);
  const path = stateFilePath(options);
  const key = keyForDriver(path, options);
  assertPresent(path);
  const setUp = toRead(path);
  try {
    const db = openAndSetUp(
      path,
      { key, readonly: true, fileMustExist: true, timeout: NATIVE_BUSY_MS },
      setUp,
    );
    setBusyTimeout(db, busyTimeoutMs);
    return db;
  } catch (error) {
    if (!needsSpaceBeside(error)) throw error;
    if (key !== null) throw notCopied(path, error);
    const version = fileVersion(path);
    const db = openedImage(copyInMemory(path), setUp);
    setOrigin(db, { path, version });
    return db;
  }
}

/**
 * Opens the bytes of a whole state file for reading only: a run's file that came from elsewhere. Nothing is written
 * anywhere, and no migration is applied.
 *
 * @param bytes - With all that is committed: no log belongs to them. They are copied.
 * @throws DevsError `CONFIG_INVALID` if they are no state file, `STATE_CORRUPT`, `SCHEMA_TOO_NEW`, `MIGRATION_EDITED`,
 *   `MIGRATION_GAP`.
 */
export function openState(bytes: Uint8Array): Database {
  return openedImage(withoutLog(Buffer.from(bytes)), toRead('The image'));
}

/**
 * Opens the bytes of a whole state file to read and to write; what is written is in memory, and gone at close. A file of an
 * earlier release is migrated there.
 *
 * @param bytes - As of {@link openState}.
 * @throws DevsError as {@link openState}, and `SCHEMA_FOREIGN`.
 */
export function openStateCopy(bytes: Uint8Array): Database {
  const setUp = (db: Database): void => {
    toRead('The image')(db);
    applyPragmas(db, policyOf({ dbPath: MEMORY }));
    bringUpToDate(db);
  };
  return openedImage(withoutLog(Buffer.from(bytes)), setUp, { readonly: false });
}

/** A migration writes rows, too: what would fire then is refused before. */
function bringUpToDate(db: Database): void {
  assertOwnSchema(db, 'engine');
  runMigrations(db);
}

/** @param name - For messages. */
function toRead(name: string): (db: Database) => void {
  return (db) => {
    applyReadPragmas(db);
    assertReadPragmas(db);
    assertStateFile(db, name);
    if (!hasLedger(db)) throw notAStateFile(name);
    pendingMigrations(db);
  };
}

/**
 * The process-wide instance: opened by the first call, from the working folder unless options say otherwise.
 *
 * @throws TypeError if it is open under another path than the options name.
 */
export function getDatabase(options?: CreateDatabaseOptions): Database {
  if (defaultDatabase?.open !== true) {
    defaultDatabase = createDatabase(options ?? { fromDir: process.cwd() });
  } else if (options !== undefined && stateFilePath(options) !== defaultDatabase.name) {
    throw new TypeError(
      `options: the default database is already open as ${defaultDatabase.name}; close it first`,
    );
  }
  return defaultDatabase;
}

/** Closes the process-wide instance, if there is one; the next `getDatabase` opens anew. */
export function closeDatabase(): void {
  defaultDatabase?.close();
  defaultDatabase = undefined;
}

/** A database in memory, to write, with everything that is committed in another one. Ends with its connection. */
export function openCopy(of: Database): Database {
  const db = connect(of.serialize());
  applyPragmas(db, policyOf({ dbPath: MEMORY }));
  markPrepared(db);
  return db;
}

/**
 * Opens a working copy of a state file that is kept elsewhere, brought up to date: the only connection, that waits for no disk
 * and moves its log into the file only when {@link emptyLog} is called. Nobody else knows its path: it is not watched.
 *
 * @throws DevsError as {@link createDatabase}.
 */
export function openWorkingCopy(path: string): Database {
  const policy = policyOf({ dbPath: path, synchronous: 'normal' });
  return openAndSetUp(path, { timeout: NATIVE_BUSY_MS, fileMustExist: true, isWatched: false }, (db) => {
    applyPragmas(db, policy);
    keepLog(db);
    claimFile(db);
    assertPragmas(db, policy);
    bringUpToDate(db);
    pragma(db, 'synchronous = OFF');
    markWorkingCopy(db);
  });
}

/** The absolute path that options name; `:memory:` as it is. */
export function stateFilePath({ dbPath, fromDir }: StateFileLocation): string {
  if (dbPath === MEMORY) return MEMORY;
  const path = fromDir === undefined ? dbPath : join(fromDir, '.devs', 'state.sqlite');
  // SQLite reads an empty path as "a temporary database": everything written would be gone at close.
  if (typeof path !== 'string' || path.trim() === '') {
    throw new TypeError(`dbPath: ${String(path)} is not a path`);
  }
  return resolve(path);
}

/** What the driver takes; `null` without a key. Before anything is written. */
function keyForDriver(path: string, { encryptionKey }: Keyed): Buffer | null {
  if (encryptionKey === undefined) return null;
  if (path === MEMORY) throw invalidOption('A database in memory cannot have an encryptionKey.');
  const key = driverKey(encryptionKey);
  assertCipherDriver();
  return key;
}

function policyOf({
  busyTimeoutMs = BUSY_TIMEOUT_MS,
  synchronous = 'full',
}: CreateDatabaseOptions): ConnectionPolicy {
  if (!Number.isSafeInteger(busyTimeoutMs) || busyTimeoutMs < MIN_BUSY_TIMEOUT_MS) {
    throw invalidOption(
      `busyTimeoutMs must be a whole number of at least ${MIN_BUSY_TIMEOUT_MS}, got ${busyTimeoutMs}.`,
    );
  }
  if (synchronous !== 'full' && synchronous !== 'normal') {
    throw invalidOption(`synchronous must be full or normal, got ${String(synchronous)}.`);
  }
  return { busyTimeoutMs, synchronous };
}

interface Opening {
  readonly isWatched?: boolean;
  readonly key?: Buffer | null;
}

/** Opens, then sets up; a connection that cannot be set up is closed again. */
function openAndSetUp(
  path: string,
  { isWatched = path !== MEMORY, key = null, ...options }: Options & Opening,
  setUp: (db: Database) => void,
): Database {
  return withKeyFaults(path, key !== null, () => {
    const file = path === MEMORY ? undefined : identityOf(path);
    assertFile(path);
    const db = connectKeyed(path, key, options);
    try {
      setUp(db);
      if (isWatched) watchFile(db, path, file);
    } catch (error) {
      closeQuietly(db);
      throw error;
    }
    markPrepared(db);
    return db;
  });
}

function openedImage(
  image: Buffer,
  setUp: (db: Database) => void,
  { readonly = true }: { readonly readonly?: boolean } = {},
): Database {
  const db = connect(image, { readonly });
  try {
    withStateFaults(() => setUp(db));
  } catch (error) {
    closeQuietly(db);
    throw error;
  }
  markPrepared(db);
  return db;
}

/** For after an error, which is the one to tell. */
function closeQuietly(db: Database): void {
  try {
    db.close();
  } catch {
    // A connection that cannot be closed is closed with the process.
  }
}

/** A file in WAL mode is read with the help of `-wal` and `-shm`, which SQLite could not make or grow. */
function needsSpaceBeside(error: unknown): boolean {
  const sqlite = isDevsError(error) ? String(error.context['sqlite']) : '';
  return /^SQLITE_(?:CANTOPEN|READONLY|FULL|IOERR_(?:SHM|WRITE|TRUNCATE|FSYNC))/.test(sqlite);
}

/**
 * Looks at the file through a connection that cannot write, so that a refused file keeps every byte: a writing
 * connection would change its header and, at close, move its write-ahead log into it.
 */
function refuseUnusable(path: string, key: Buffer | null): void {
  assertFile(path);
  withKeyFaults(path, key !== null, () => {
    const db = connectKeyed(path, key, { readonly: true, fileMustExist: true, timeout: NATIVE_BUSY_MS });
    try {
      assertStateFile(db, path);
      pendingMigrations(db);
      assertOwnSchema(db, 'engine');
    } catch (error) {
      if (!needsRollback(error)) throw error;
    } finally {
      closeQuietly(db);
    }
  });
}

/** A file whose first writer died in a rollback journal: only a writing connection can restore it, and does. */
function needsRollback(error: unknown): boolean {
  return isDevsError(error, 'STATE_IO') && String(error.context['sqlite']).startsWith('SQLITE_READONLY');
}

/** SQLite would wait for ever for the other end of a named pipe. */
function assertFile(path: string): void {
  const found = path === MEMORY ? undefined : statOf(path);
  if (found !== undefined && !found.isFile()) throw notAStateFile(path);
}

/** The driver takes a missing folder for a wrong argument. */
function assertPresent(path: string): void {
  if (path === MEMORY || identityOf(path) !== undefined) return;
  throw new DevsError(`There is no state file at ${path}.`, {
    code: 'STATE_IO',
    remedy: 'Check the path. The first run creates the file.',
    context: { path },
  });
}

/** A state file is marked as ours, is empty, or was migrated through a handle that its caller had opened. */
function assertStateFile(db: Database, path: string): void {
  const id = pragmaValue(db, 'application_id');
  if (id === APPLICATION_ID || (id === 0 && (isEmptyDatabase(db) || hasLedger(db)))) return;
  throw notAStateFile(path);
}

function claimFile(db: Database): void {
  assertStateFile(db, db.name);
  if (pragmaValue(db, 'application_id') !== APPLICATION_ID) {
    pragma(db, `application_id = ${APPLICATION_ID}`);
  }
}

function isEmptyDatabase(db: Database): boolean {
  return prepare<[], number>(db, COUNT_OBJECTS).pluck().get() === 0;
}

function notAStateFile(path: string): DevsError {
  return new DevsError(`${path} is not a state file of this engine.`, {
    code: 'CONFIG_INVALID',
    remedy:
      'Use a state file, or the path of a new file. To take over the threads of a LangGraph checkpointer, use app.importThread() or devs import-threads.',
    context: { path },
  });
}

function notCopied(path: string, cause: unknown): DevsError {
  return new DevsError(`${path} is encrypted and cannot be read from a read-only folder.`, {
    code: 'STATE_IO',
    remedy:
      'Make its folder writable, or copy the folder to a writable place. Then run the same command again.',
    context: { path },
    cause,
  });
}

function invalidOption(message: string): DevsError {
  return new DevsError(message, { code: 'CONFIG_INVALID', remedy: 'Correct the option, then start again.' });
}

const preparedConnections = new WeakSet<Database>();

/**
 * Makes a connection that its caller opened usable as a state file: migrations, and durable commits. Everything else
 * about the connection is the caller's; what differs from `createDatabase` is warned about once. Does nothing to a
 * connection that is prepared already.
 *
 * @throws DevsError `SCHEMA_FOREIGN`, as `runMigrations`, or a storage fault.
 */
export function prepareConnection(db: Database): void {
  if (preparedConnections.has(db)) return;
  withStateFaults(() => {
    if (db.readonly) {
      pendingMigrations(db);
    } else {
      assertOwnSchema(db, 'program');
      pragma(db, 'synchronous = FULL');
      overwriteDeleted(db);
      runMigrations(db);
      warnAboutDeviations(db);
    }
  });
  watchOpenFile(db);
  markPrepared(db);
}

/** What the path led to before the handle was opened is unknown here; a URI leads to no path at all. */
function watchOpenFile(db: Database): void {
  const path = resolve(db.name);
  const file = db.memory ? undefined : identityOf(path);
  if (file === undefined) return;
  recordOpen(db, path, 'rekey' in db ? 'cipher' : 'plain');
  watchFile(db, path, file);
}

/** Records that a connection needs no further preparation. */
export function markPrepared(db: Database): void {
  preparedConnections.add(db);
}

function warnAboutDeviations(db: Database): void {
  const deviations = pragmaDeviations(db, 'full');
  if (deviations.length === 0) return;
  const list = deviations.map(({ text }) => text).join('; ');
  process.emitWarning(`A state file was opened without createDatabase: ${list}.`, 'DevsConnectionWarning');
}
