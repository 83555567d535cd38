import type { Database } from 'better-sqlite3';
import { HitlSessionStore } from '../../state/HitlSessionStore.ts';
import { WaitStore } from '../../state/WaitStore.ts';
import type { Gate } from '../gates/Gate.ts';
import { gateWithDeadlines } from '../gateWithDeadlines.ts';

/** The open questions of all runs in a file, told when they become others: cheap enough to ask after every commit. */
export class OpenQuestions {
  readonly #sessions: HitlSessionStore;
  readonly #waits: WaitStore;
  #known: string;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#sessions = new HitlSessionStore(db);
    this.#waits = new WaitStore(db);
    this.#known = this.#ids();
  }

  /** All of them, where one was opened or closed since the last look; else `null`. */
  news(): readonly Gate[] | null {
    const ids = this.#ids();
    if (ids === this.#known) return null;
    this.#known = ids;
    return this.#sessions
      .listOpenOfRuns()
      .map((session) => gateWithDeadlines(session, { waits: this.#waits }));
  }

  #ids(): string {
    return this.#sessions.openIds().join();
  }
}
