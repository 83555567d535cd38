import type { Database } from 'better-sqlite3';
import { assertIntactFile, assertSameFile, keepingLog } from '../db/fileIdentity.ts';
import { withStateFaults } from '../db/sqliteFault.ts';
import { transaction } from '../db/transaction.ts';

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
  if (db.inTransaction) return transaction(db, 'immediate', work);
  return withStateFaults(() => {
    assertIntactFile(db);
    const result = transaction(db, 'immediate', () => keepingLog(db, work));
    assertSameFile(db);
    return result;
  });
}
