import type { Database, Transaction } from 'better-sqlite3';
import { assertIntactFile, assertSameFile } from '../db/fileIdentity.ts';
import { withStateFaults } from '../db/sqliteFault.ts';

type Run = Transaction<(work: () => unknown) => unknown>;

// `db.transaction` makes four functions each time; a super-step has several transactions.
const runs = new WeakMap<Database, Run>();

/**
 * Runs `work` in one immediate write transaction of its own, or in a savepoint of the one around it. Rolled back when
 * `work` throws. Synchronous: a transaction ends at the first `await`.
 *
 * The only place that commits what a run writes, so that no commit to a lost file is acknowledged.
 *
 * @throws DevsError `STATE_REPLACED` if the file was deleted, replaced or truncated: SQLite itself would acknowledge;
 *   `STATE_IO`, `STATE_DISK_FULL` or `STATE_CORRUPT` if it cannot be written.
 */
export function immediately<T>(db: Database, work: () => T): T {
  const run = runOf(db);
  if (db.inTransaction) return run(work) as T;
  return withStateFaults(() => {
    assertIntactFile(db);
    const result = run.immediate(work) as T;
    assertSameFile(db);
    return result;
  });
}

function runOf(db: Database): Run {
  const known = runs.get(db);
  if (known !== undefined) return known;
  const run: Run = db.transaction((work: () => unknown) => work());
  runs.set(db, run);
  return run;
}
