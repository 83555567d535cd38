// Drivers that have died: as whoever hands a file out counts them, and as tests stage them.
import type { Database, Statement } from 'better-sqlite3';
import { openCopy } from '../../db/createDatabase.ts';
import { prepare } from '../../db/prepare.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';
import { NOBODY } from './hostIdentity.ts';
import { RECOVERY_SPAN_MS } from './ThreadStore.ts';

// Of who counts them elsewhere: for the span of a recovery `begin` counts none beside.
const COUNT_DEATHS = `
  UPDATE threads SET recoveries = @deaths, worked_epoch = NULL, recovery_counted_at = @countedAt
  WHERE @deaths > 0 OR recoveries > 0`;

/**
 * How many drivers of a file have died without progress, where whoever hands the file out counts them: what the file itself has
 * counted is set to that, and the death before this drive is not counted once more.
 */
export class CountedDeaths {
  readonly #hasRecovered: Statement<[], number>;

  /**
   * @param db - An open, migrated state file, that nobody drives yet. Nothing is written where there is nothing to count.
   * @param now - The clock that the file is driven by, ms since the Unix epoch.
   */
  constructor(db: Database, deaths: number, now: number) {
    // In the middle of the span: the clock may be set a little, back as well as forward, before `begin` looks at it.
    prepare<[object]>(db, COUNT_DEATHS).run({ deaths, countedAt: now - RECOVERY_SPAN_MS / 2 });
    this.#hasRecovered = prepare<[], number>(
      db,
      'SELECT 1 FROM threads WHERE recoveries = 0 LIMIT 1',
    ).pluck();
  }

  /** Whether a checkpoint or a recorded result has come into the file since. */
  get hasProgressed(): boolean {
    return this.#hasRecovered.get() !== undefined;
  }
}

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
