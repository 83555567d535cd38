// Open gates of all runs in a file: in pages, and as news.

import type { Database } from 'better-sqlite3';
import { HitlSessionStore } from '../../state/gates/HitlSessionStore.ts';
import { WaitStore } from '../../state/threads/WaitStore.ts';
import { type Gate, gateOf, gateWithDeadlines } from '../gates/Gate.ts';
import { type PageRequest, pageLimit, pageOf, parseCursor } from './pages.ts';

export interface GatePage {
  /** Oldest first. */
  readonly gates: readonly Gate[];
  /** Give it as `after` for the next page; `null` on the last. */
  readonly next: string | null;
}

/** The open questions of every run in the file. @throws RangeError for a bad `limit` or `after`. */
export function inbox({ limit: wanted, after }: PageRequest, sessions: HitlSessionStore): GatePage {
  const limit = pageLimit(wanted);
  const place = parseCursor(after);
  const found = sessions.pageOpen(place && { suspendedAt: place.at, id: place.id }, limit + 1);
  const { items, next } = pageOf(found, limit, ({ suspendedAt, id }) => ({ at: suspendedAt, id }));
  return { gates: items.map(gateOf), next };
}

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
