import type { Database } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { immediately } from './immediately.ts';

/** A process that there cannot be: above every limit of process ids. */
const NOBODY = '2147483647:1';

/**
 * Leaves every run that is held to a process that is gone, as `kill -9` does. For tests: who held them must not write
 * any more.
 */
export function abandonLeases(db: Database): void {
  const abandon = prepare(db, 'UPDATE threads SET lease_owner = ? WHERE lease_owner IS NOT NULL');
  immediately(db, () => abandon.run(NOBODY));
}
