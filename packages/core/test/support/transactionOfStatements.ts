import type { Database, Statement } from 'better-sqlite3';

type Work = (...args: unknown[]) => unknown;

/**
 * What a connection's `transaction` does, as the driver does it, but with statements of `prepare`: the driver's own are out of
 * a test's reach.
 */
export function transactionOfStatements(
  db: Database,
  prepare: (sql: string) => Pick<Statement, 'run'>,
): Database['transaction'] {
  const run = (sql: string): unknown => prepare(sql).run();
  const beginning =
    (begin: string, work: Work): Work =>
    (...args) => {
      if (db.inTransaction) throw new Error('Expected a transaction, and no savepoint.');
      run(begin);
      try {
        const result = work(...args);
        run('COMMIT');
        return result;
      } catch (error) {
        if (db.inTransaction) run('ROLLBACK');
        throw error;
      }
    };
  const transaction = (work: Work): object =>
    Object.assign(beginning('BEGIN', work), {
      deferred: beginning('BEGIN DEFERRED', work),
      immediate: beginning('BEGIN IMMEDIATE', work),
    });
  return transaction as Database['transaction'];
}
