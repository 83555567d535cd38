import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { COUNT_DEATHS } from './threadSql.ts';

/**
 * How many drivers of a file have died without progress, where whoever hands the file out counts them: what the file itself has
 * counted is set to that, and the death before this drive is not counted once more.
 */
export class CountedDeaths {
  readonly #hasRecovered: Statement<[], number>;

  /** @param db - An open, migrated state file, that nobody drives yet. Nothing is written where there is nothing to count. */
  constructor(db: Database, deaths: number, now = Date.now()) {
    prepare<[object]>(db, COUNT_DEATHS).run({ deaths, now });
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
