import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import type { ThreadStatus } from './threadRecords.ts';

/** A place in the order of runs: when one was created, in ms since the Unix epoch, and its id among those of that time. */
export interface RunPlace {
  readonly at: number;
  readonly id: string;
}

export interface RunQuery {
  readonly statuses: readonly ThreadStatus[];
  /** Fingerprint of the graph; `null` means any. */
  readonly graph: string | null;
  /** Only runs created then or later, ms. */
  readonly since: number;
  /** Only runs before this place. */
  readonly before: RunPlace;
  readonly limit: number;
}

interface Bound {
  readonly statuses: string;
  readonly graph: string | null;
  readonly since: number;
  readonly at: number;
  readonly id: string;
  readonly limit: number;
}

// One short walk per status, each in the order of its index, and the newest of what they found: a run that is not shown
// is not looked at, but for a page of each status.
const selectPage = (condition: string): string => `
  SELECT found.created_at AS at, found.thread_id AS id
  FROM json_each(@statuses) AS wanted CROSS JOIN threads AS found
  WHERE found.thread_id IN (
    SELECT thread_id FROM threads
    WHERE ${condition} status = wanted.value AND created_at >= @since AND (created_at, thread_id) < (@at, @id)
    ORDER BY created_at DESC, thread_id DESC LIMIT @limit)
  ORDER BY found.created_at DESC, found.thread_id DESC LIMIT @limit`;

// Runs with a folder are removed with it, by whoever keeps it.
const SELECT_ENDED = `
  SELECT ended_at AS at, thread_id AS id FROM threads
  WHERE ended_at IS NOT NULL AND workspace IS NULL AND ended_at < @before AND (ended_at, thread_id) > (@at, @id)
  ORDER BY ended_at, thread_id LIMIT @limit`;

/** Finds runs among many by where they stand and how old they are. Reads `threads` by its indexes, and writes nothing. */
export class RunDirectory {
  readonly #db: Database;
  #page: Statement<[Bound], RunPlace> | null = null;
  #pageOfGraph: Statement<[Bound], RunPlace> | null = null;
  #ended: Statement<[object], RunPlace> | null = null;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
  }

  /** Runs, newest first. */
  page({ statuses, graph, since, before, limit }: RunQuery): readonly RunPlace[] {
    const bound = { statuses: JSON.stringify(statuses), graph, since, ...before, limit };
    if (graph === null) {
      this.#page ??= prepare(this.#db, selectPage(''));
      return this.#page.all(bound);
    }
    this.#pageOfGraph ??= prepare(this.#db, selectPage('graph_fingerprint = @graph AND'));
    return this.#pageOfGraph.all(bound);
  }

  /** Runs without a folder that ended before a time, ms, longest ago first; `after` is the last place that was seen. */
  ended(before: number, after: RunPlace | null, limit: number): readonly RunPlace[] {
    this.#ended ??= prepare(this.#db, SELECT_ENDED);
    return this.#ended.all({ before, ...(after ?? { at: Number.MIN_SAFE_INTEGER, id: '' }), limit });
  }
}
