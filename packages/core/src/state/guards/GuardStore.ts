import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';

/** Rows of `guard_firings`: what the guards of a run have fired for. */
export class GuardStore {
  readonly #insert: Statement<[string, string]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#insert = prepare(db, 'INSERT OR IGNORE INTO guard_firings (thread_id, firing) VALUES (?, ?)');
  }

  /** Notes a firing in the caller's transaction; true the first time, so that its event is written once. */
  recordOnce(threadId: string, firing: string): boolean {
    return this.#insert.run(threadId, firing).changes === 1;
  }
}
