import type { Database } from 'better-sqlite3';
import { openCopy } from '../db/createDatabase.ts';
import { prepare } from '../db/prepare.ts';
import { NOBODY } from './hostIdentity.ts';
import { immediateTransaction } from './immediateTransaction.ts';

const ABANDON = 'UPDATE threads SET lease_owner = ? WHERE lease_owner IS NOT NULL';

/**
 * What the next process finds once the one that has this state is dead, as after `kill -9`: a copy in memory of all that is
 * committed, in which every run that was driven is held by nobody alive. The connection is closed, so that nothing which
 * still runs on it is written. For tests.
 *
 * @throws DevsError `STATE_…` where it cannot be read. The connection is then as it was.
 */
export function afterDeath(db: Database): Database {
  const next = openCopy(db);
  const abandon = prepare(next, ABANDON);
  immediateTransaction(next, () => abandon.run(NOBODY));
  db.close();
  return next;
}
