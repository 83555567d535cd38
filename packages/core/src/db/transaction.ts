import type { Database, Statement } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { prepare } from './prepare.ts';

interface Controls {
  readonly immediate: Statement;
  readonly deferred: Statement;
  readonly commit: Statement;
  readonly rollback: Statement;
  readonly savepoint: Statement;
  readonly rollbackTo: Statement;
  readonly release: Statement;
}

// Seven statements each; a super-step has several transactions.
const controls = new WeakMap<Database, Controls>();

/** Connections whose transaction is one of {@link outer}'s, still at its work. */
const working = new WeakSet<Database>();

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
  const statements = controlsOf(db);
  const isPart = working.has(db) || (db.inTransaction && !stuck.has(db));
  return isPart ? nested(db, statements, work) : outer(db, statements, kind, work);
}

function outer<T>(
  db: Database,
  { commit, rollback, ...begins }: Controls,
  kind: 'immediate' | 'deferred',
  work: () => T,
): T {
  if (stuck.has(db)) {
    if (db.inTransaction) rollback.run();
    stuck.delete(db);
  }
  begins[kind].run();
  working.add(db);
  try {
    const result = work();
    if (stuck.has(db)) throw notRolledBack();
    commit.run();
    return result;
  } catch (error) {
    undo(db, [rollback]);
    if (!db.inTransaction) stuck.delete(db);
    throw error;
  } finally {
    working.delete(db);
  }
}

function nested<T>(db: Database, { savepoint, release, rollbackTo }: Controls, work: () => T): T {
  if (stuck.has(db)) throw notRolledBack();
  savepoint.run();
  try {
    const result = work();
    release.run();
    return result;
  } catch (error) {
    undo(db, [rollbackTo, release]);
    throw error;
  }
}

/** After some faults SQLite has rolled back by itself. */
function undo(db: Database, statements: readonly Statement[]): void {
  if (!db.inTransaction) return;
  try {
    for (const statement of statements) statement.run();
  } catch {
    stuck.add(db);
  }
}

function controlsOf(db: Database): Controls {
  const known = controls.get(db);
  if (known !== undefined) return known;
  const made: Controls = {
    immediate: prepare(db, 'BEGIN IMMEDIATE'),
    deferred: prepare(db, 'BEGIN DEFERRED'),
    commit: prepare(db, 'COMMIT'),
    rollback: prepare(db, 'ROLLBACK'),
    savepoint: prepare(db, 'SAVEPOINT part'),
    rollbackTo: prepare(db, 'ROLLBACK TO part'),
    release: prepare(db, 'RELEASE part'),
  };
  controls.set(db, made);
  return made;
}

function notRolledBack(): DevsError {
  return new DevsError('A part of a transaction could not be rolled back.', {
    code: 'STATE_IO',
    remedy: 'Nothing of it was written; check the disk, then run the same command again.',
  });
}
