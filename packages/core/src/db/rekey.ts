import {
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { syncFolder } from './backup.ts';
import { isBusy, NATIVE_BUSY_MS } from './busy.ts';
import { connectCipher } from './connect.ts';
import { openReadOnly, type StateFileLocation, stateFilePath } from './createDatabase.ts';
import { driverKey, type EncryptionKey, withKeyFaults } from './encryptionKey.ts';
import { createPrivateFile } from './ensureStateFile.ts';
import { driverHolding } from './openFiles.ts';
import { prepare } from './prepare.ts';
import { toFileFault, toStateFault } from './sqliteFault.ts';

// Not in place: a file of which half the pages had another key would be lost with its process. A copy gets the new key, and
// takes the place of the file in one step; until then the file is as it was, after that it is the copy. Meanwhile the file is
// locked, and has no log: one that was left would be applied to whatever is at its name.

/** Options of {@link rekey}. */
export type RekeyOptions = StateFileLocation & {
  /** The key of the file; left out for one that is not encrypted. */
  readonly encryptionKey?: EncryptionKey | undefined;
  /** `null` decrypts the file: everything in it can be read then. */
  readonly newEncryptionKey: EncryptionKey | null;
};

/** What {@link rekey} has made. */
export interface Rekeyed {
  /** Absolute. */
  readonly path: string;
  readonly encrypted: boolean;
  readonly bytes: number;
}

/**
 * Encrypts a state file, changes its key, or decrypts it. Close all connections first. It needs disk space for a copy
 * and blocks until the copy is on disk. After a kill, the file opens with the old or the new key: run it again, which
 * also removes the leftover `FILE.rekey`. Backups keep their key.
 *
 * ```ts
 * rekey({ dbPath: '.devs/state.sqlite', encryptionKey: old, newEncryptionKey: key });
 * ```
 *
 * @throws DevsError `STATE_IO` if the file is in use or cannot be written; `STATE_KEY_MISMATCH` for the wrong key;
 *   `CONFIG_INVALID` for a new key that is too short, an unencrypted file to decrypt, a file with a hard link, or a
 *   missing driver; those of `openReadOnly`. The file is unchanged then.
 */
export function rekey({ encryptionKey, newEncryptionKey, ...at }: RekeyOptions): Rekeyed {
  const named = stateFilePath(at);
  const next = newEncryptionKey === null ? null : driverKey(newEncryptionKey);
  const key = encryptionKey === undefined ? null : driverKey(encryptionKey);
  if (key === null && next === null) throw notEncrypted(named);
  if (driverHolding(named) !== null) throw inUse(named);
  openReadOnly({ ...at, encryptionKey }).close();
  const path = realpathSync(named); // a link leads to the new file, too
  assertOneName(path);
  const copy = `${path}.rekey`;
  try {
    return inPlaceOf(path, key, (db) => {
      removeCopy(copy);
      copyWithKey(db, copy, { key, next });
      return { path, encrypted: next !== null, bytes: statSync(copy).size };
    });
  } catch (error) {
    throw toRekeyFault(error, path);
  } finally {
    removeCopy(copy);
  }
}

interface Keys {
  readonly key: Buffer | null;
  readonly next: Buffer | null;
}

/** Makes the copy of a file that nobody else has open, and puts it in the place of the file. */
function inPlaceOf(path: string, key: Buffer | null, make: (db: Database) => Rekeyed): Rekeyed {
  const db = connectCipher(path, key, { fileMustExist: true, timeout: NATIVE_BUSY_MS });
  try {
    takeAlone(db, path);
    const made = make(db);
    renameSync(`${path}.rekey`, path);
    syncFolder(dirname(path));
    return made;
  } finally {
    db.close();
  }
}

/**
 * Until the connection is closed nobody else reads or writes the file. Its log is in it and gone, and SQLite refuses whoever
 * waits meanwhile to write a file that has another name by then, or none.
 */
function takeAlone(db: Database, path: string): void {
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    if (db.pragma('journal_mode = DELETE', { simple: true }) !== 'delete') throw inUse(path);
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    rmSync(`${path}-shm`, { force: true }); // of a process that was killed
  } catch (error) {
    throw isBusy(error) ? inUse(path, error) : error;
  }
}

function copyWithKey(db: Database, copy: string, { key, next }: Keys): void {
  createPrivateFile(copy);
  giveToOwnerOf(db.name, copy);
  prepare<[string]>(db, 'VACUUM INTO ?').run(copy);
  const made = connectCipher(copy, key, { fileMustExist: true });
  try {
    made.pragma('journal_mode = DELETE');
    made.rekey(next ?? Buffer.alloc(0));
  } finally {
    made.close();
  }
  assertReadable(copy, next);
  syncFile(copy);
}

/** Root changes the key of a file that belongs to somebody else. */
function giveToOwnerOf(path: string, copy: string): void {
  const [before, made] = [statSync(path), statSync(copy)];
  if (before.uid !== made.uid || before.gid !== made.gid) chownSync(copy, before.uid, before.gid);
}

/** The other name would go on leading to the file as it was. */
function assertOneName(path: string): void {
  if (statSync(path).nlink === 1) return;
  throw new DevsError(`${path} has a second hard link, which would keep the old file.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Remove the other link, then run the command again.',
    context: { path },
  });
}

/** What takes the place of the file is read first, to its last page. */
function assertReadable(copy: string, key: Buffer | null): void {
  withKeyFaults(copy, key !== null, () => {
    const db = connectCipher(copy, key, { fileMustExist: true });
    try {
      db.pragma('journal_mode = WAL');
      const verdict = db.pragma('quick_check(1)', { simple: true });
      if (verdict !== 'ok') throw damagedCopy(copy, String(verdict));
    } finally {
      db.close();
    }
  });
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function removeCopy(copy: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
}

function toRekeyFault(error: unknown, path: string): unknown {
  const fault = toStateFault(error);
  if (fault !== null) return fault;
  return (error as NodeJS.ErrnoException | null)?.code?.startsWith('E') === true
    ? toFileFault(error, path)
    : error;
}

function inUse(path: string, cause?: unknown): DevsError {
  return new DevsError(`${path} is open in another process, so its key cannot be changed.`, {
    code: 'STATE_IO',
    remedy:
      'Stop every process that has it open (devs run, devs ui, devs-mcp, your own programs), then run the command again.',
    context: { path },
    cause,
  });
}

function damagedCopy(path: string, detail: string): DevsError {
  return new DevsError(`The state file is damaged; its key was not changed: ${detail}`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup.',
    context: { path },
  });
}

function notEncrypted(path: string): DevsError {
  return new DevsError(`Cannot decrypt ${path} without its key.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Set the key of the file, or a new key.',
    context: { path },
  });
}
