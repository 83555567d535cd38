import type { Database, Transaction } from 'better-sqlite3';

type Run = Transaction<(work: () => unknown) => unknown>;

// `db.transaction` makes four functions each time; a super-step has several transactions.
const runs = new WeakMap<Database, Run>();

/**
 * Runs `work` in one immediate write transaction of its own, or in a savepoint of the one around it. Rolled back when
 * `work` throws. Synchronous: a transaction ends at the first `await`.
 */
export function immediately<T>(db: Database, work: () => T): T {
  let run = runs.get(db);
  if (run === undefined) {
    run = db.transaction((inside: () => unknown) => inside());
    runs.set(db, run);
  }
  return run.immediate(work) as T;
}
