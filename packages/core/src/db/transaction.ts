import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { prepare } from './prepare.ts';

/** A transaction, or a savepoint in it. */
export interface Part {
  /** Rolled back, or not committed. */
  isUndone: boolean;
}

/** By connection, what {@link outer} has begun and is still at its work, with the savepoints in it, the innermost last. */
const working = new WeakMap<Database, Part[]>();

/** Connections on which something could not be rolled back: what is open there must never be committed. */
const stuck = new WeakSet<Database>();

/**
 * Runs `work` in one transaction of its own, or in a savepoint of the one around it. Rolled back when `work` throws, and
 * its error is the one that is thrown, whatever becomes of the rollback. Synchronous: nothing may be awaited in `work`.
 *
 * @param kind - `immediate` to write; `deferred` to read at one moment.
 * @throws DevsError `STATE_IO`, `STATE_DISK_FULL` or `STATE_CORRUPT`, or what `work` throws.
 */
export function transaction<T>(db: Database, kind: 'immediate' | 'deferred', work: () => T): T {
  const isPart = working.has(db) || (db.inTransaction && !stuck.has(db));
  return isPart ? nested(db, work) : outer(db, kind, work);
}

/**
 * The transaction that a connection is in and the savepoints in it, the innermost last; `null` where it was not begun by
 * {@link transaction}, so that nobody can tell whether it is committed.
 */
export function partsOf(db: Database): readonly Part[] | null {
  const parts = working.get(db);
  return parts === undefined ? null : [...parts];
}

function outer<T>(db: Database, kind: 'immediate' | 'deferred', work: () => T): T {
  if (stuck.has(db)) {
    if (db.inTransaction) prepare(db, 'ROLLBACK').run();
    stuck.delete(db);
  }
  prepare(db, kind === 'immediate' ? 'BEGIN IMMEDIATE' : 'BEGIN DEFERRED').run();
  const whole: Part = { isUndone: false };
  working.set(db, [whole]);
  try {
    const result = work();
    if (stuck.has(db)) throw notRolledBack();
    prepare(db, 'COMMIT').run();
    return result;
  } catch (error) {
    whole.isUndone = true;
    undo(db, ['ROLLBACK']);
    if (!db.inTransaction) stuck.delete(db);
    throw error;
  } finally {
    working.delete(db);
  }
}

function nested<T>(db: Database, work: () => T): T {
  if (stuck.has(db)) throw notRolledBack();
  prepare(db, 'SAVEPOINT part').run();
  const part: Part = { isUndone: false };
  const parts = working.get(db);
  parts?.push(part);
  try {
    const result = work();
    prepare(db, 'RELEASE part').run();
    return result;
  } catch (error) {
    part.isUndone = true;
    undo(db, ['ROLLBACK TO part', 'RELEASE part']);
    throw error;
  } finally {
    parts?.pop();
  }
}

/** After some faults SQLite has rolled back by itself. */
function undo(db: Database, statements: readonly string[]): void {
  if (!db.inTransaction) return;
  try {
    for (const statement of statements) prepare(db, statement).run();
  } catch {
    stuck.add(db);
  }
}

function notRolledBack(): DevsError {
  return new DevsError('A part of a transaction could not be rolled back.', {
    code: 'STATE_IO',
    remedy: 'Nothing of it was written; check the disk, then run the same command again.',
  });
}
