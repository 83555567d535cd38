import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { createPrivateFile } from './ensureStateFile.ts';
import { prepare } from './prepare.ts';
import { toFileFault, toStateFault } from './sqliteFault.ts';

/** A finished backup. */
export interface Backup {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Copies an open state file, also while other processes write to it. The copy is one snapshot with every commit
 * acknowledged before the call. It is a single compacted file, readable by its owner only. Blocks until the copy is on
 * disk; the target appears complete or not at all.
 *
 * ```ts
 * backup(db, 'before-upgrade.sqlite');
 * ```
 *
 * @param db - Open for reading or writing, outside a transaction.
 * @param target - A path without a file, in an existing folder.
 * @throws DevsError `CONFIG_INVALID` if the target exists, `STATE_DISK_FULL` or `STATE_IO` if it cannot be written,
 *   `STATE_CORRUPT` if the state file cannot be read completely.
 */
export function backup(db: Database, target: string): Backup {
  if (db.inTransaction) throw new TypeError('db: cannot make a backup inside a transaction');
  const path = resolve(target);
  // A log left by another file of that name would be applied to the copy.
  const taken = [path, `${path}-wal`, `${path}-journal`].find(fileExists);
  if (taken !== undefined) throw targetExists(taken);
  // Beside the target, because a hard link cannot lead to another disk.
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    createPrivateFile(partial);
    prepare<[string]>(db, 'VACUUM INTO ?').run(partial);
    linkSync(partial, path); // Unlike a rename, fails if somebody else has made the target meanwhile.
    syncFolder(dirname(path));
    return { path, bytes: statSync(path).size };
  } catch (error) {
    throw toBackupFault(error, path);
  } finally {
    for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true });
  }
}

function fileExists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The name of a new file is on disk once its folder is. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A mistake of the caller, such as a closed connection, stays what it is. */
function toBackupFault(error: unknown, path: string): unknown {
  const errno = (error as NodeJS.ErrnoException).code;
  if (errno === 'EEXIST') return targetExists(path);
  const fault = toStateFault(error) ?? (errno?.startsWith('E') === true ? toFileFault(error, path) : null);
  if (fault === null || fault.code === 'STATE_CORRUPT') return fault ?? error;
  return new DevsError(`Cannot write the backup ${path}.`, {
    code: fault.code,
    remedy: 'Check the free space and the permissions of its folder, then make the backup again.',
    context: { ...fault.context, path },
    cause: error,
  });
}

function targetExists(path: string): DevsError {
  return new DevsError(`${path} already exists, and a backup does not overwrite files.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Use the path of a new file.',
    context: { path },
  });
}
