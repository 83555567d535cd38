import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import {
  COUNTED,
  isUnlabelled,
  type LabelQuery,
  labelConditions,
  labelCounts,
  labelValues,
  rarest,
  UNLABELLED,
} from '../labels/RunLabelStore.ts';
import { AWAITS_INPUT, THREAD_STATUSES, type ThreadStatus } from '../threads/threadRecords.ts';

/** A place in the order of runs: when one was created, in ms since the Unix epoch, and its id among those of that time. */
export interface RunCursor {
  readonly at: number;
  readonly id: string;
}

export interface RunQuery extends LabelQuery {
  readonly statuses: readonly ThreadStatus[];
  /** Fingerprint of the graph; `null` means any. */
  readonly graph: string | null;
  /** Only runs that would go on if somebody drove them. */
  readonly due: boolean;
  /** Only runs created then or later, ms. */
  readonly since: number;
  /** Only runs before this place. */
  readonly before: RunCursor;
  readonly limit: number;
}

const COUNT_STATUSES = `
  SELECT count(*) FROM (
    SELECT 1 FROM json_each(?) AS wanted CROSS JOIN threads WHERE status = wanted.value LIMIT ${COUNTED})`;

// By the label that the fewest runs have, in the order of its index.
const selectByLabel = (query: LabelQuery, first: number): string => `
  SELECT found.created_at AS at, found.thread_id AS id
  FROM run_labels AS found CROSS JOIN threads AS run ON run.thread_id = found.thread_id
  WHERE ${labelConditions('found', query, first)}
    found.label = @label${first} AND found.created_at >= @since
    AND (found.created_at, found.thread_id) < (@at, @id)
    AND run.status IN (SELECT value FROM json_each(@statuses)) AND (@graph IS NULL OR run.graph_fingerprint = @graph)
  ORDER BY found.created_at DESC, found.thread_id DESC LIMIT @limit`;

const selectByPrefix = (query: LabelQuery): string => `
  SELECT run.created_at AS at, run.thread_id AS id FROM threads AS run
  WHERE ${labelConditions('run', query)} +run.created_at >= @since AND (+run.created_at, +run.thread_id) < (@at, @id)
    AND +run.status IN (SELECT value FROM json_each(@statuses)) AND (@graph IS NULL OR +run.graph_fingerprint = @graph)
  ORDER BY +run.created_at DESC, +run.thread_id DESC LIMIT @limit`;

// One short walk per status, each in the order of its index, and the newest of what they found: a run that is not shown
// is not looked at, but for a page of each status.
const selectRunPage = (condition: string, query: LabelQuery = UNLABELLED): string => `
  SELECT found.created_at AS at, found.thread_id AS id
  FROM json_each(@statuses) AS wanted CROSS JOIN threads AS found
  WHERE found.thread_id IN (
    SELECT thread_id FROM threads AS run
    WHERE ${labelConditions('run', query)} ${condition} status = wanted.value AND created_at >= @since AND (created_at, thread_id) < (@at, @id)
    ORDER BY created_at DESC, thread_id DESC LIMIT @limit)
  ORDER BY found.created_at DESC, found.thread_id DESC LIMIT @limit`;

// Word for word the condition of its index, which SQLite would not choose: it has no figures of what is rare. The reason is
// that of a drive whose signal was aborted.
const selectDue = (query: LabelQuery): string => `
  SELECT created_at AS at, thread_id AS id FROM threads AS run INDEXED BY threads_due
  WHERE ${labelConditions('run', query)} reason IS NOT '${AWAITS_INPUT}' AND (status IN ('created', 'running') OR (status = 'paused' AND reason = 'asked to stop')
    OR (status IN ('waiting', 'paused') AND wake_seq > handled_seq))
    AND created_at >= @since AND (created_at, thread_id) < (@at, @id)
    AND status IN (SELECT value FROM json_each(@statuses)) AND (@graph IS NULL OR graph_fingerprint = @graph)
  ORDER BY created_at DESC, thread_id DESC LIMIT @limit`;

// Runs with a folder are removed with it, by whoever keeps it.
const SELECT_ENDED = `
  SELECT ended_at AS at, thread_id AS id FROM threads
  WHERE ended_at IS NOT NULL AND workspace IS NULL AND ended_at < @before AND (ended_at, thread_id) > (@at, @id)
    AND NOT EXISTS (SELECT 1 FROM child_runs WHERE child_id = thread_id)
  ORDER BY ended_at, thread_id LIMIT @limit`;

const COUNT_BY_STATUS = 'SELECT status, count(*) AS runs FROM threads GROUP BY status';

const SELECT_OWNER = `
  SELECT
    EXISTS (SELECT 1 FROM threads WHERE graph_fingerprint = @fingerprint AND graph_name = @name) AS own,
    EXISTS (SELECT 1 FROM threads WHERE graph_fingerprint = @fingerprint AND graph_name IS NOT NULL) AS named`;

const NEWEST_FIRST = 'ORDER BY created_at DESC, rowid DESC';

const SELECT_IDS = `SELECT thread_id AS id FROM threads ${NEWEST_FIRST}`;

/** Of SQLite; larger than any time or rowid. */
const MAX_INTEGER = '9223372036854775807';

const SELECT_IDS_AFTER = `
  SELECT thread_id AS id FROM threads
  WHERE (created_at, rowid) < (
    coalesce((SELECT created_at FROM threads WHERE thread_id = @after), ${MAX_INTEGER}),
    coalesce((SELECT rowid FROM threads WHERE thread_id = @after), ${MAX_INTEGER}))
  ${NEWEST_FIRST} LIMIT @limit`;

/** Finds runs among many by where they stand and how old they are. Reads `threads` by its indexes, and writes nothing. */
export class RunDirectory {
  readonly #db: Database;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
  }

  /** Runs, newest first. */
  page(query: RunQuery): readonly RunCursor[] {
    const { statuses, graph, since, before, limit } = query;
    const bound = {
      statuses: JSON.stringify(statuses),
      graph,
      since,
      ...before,
      limit,
      ...labelValues(query),
    };
    return prepare<[object], RunCursor>(this.#db, this.#planOf(query)).all(bound);
  }

  /** By the condition that the fewest runs meet. */
  #planOf(query: RunQuery): string {
    const { statuses, graph, due } = query;
    if (due) return selectDue(query);
    const byStatus = selectRunPage(graph === null ? '' : 'graph_fingerprint = @graph AND', query);
    if (isUnlabelled(query)) return byStatus;
    const counts = labelCounts(this.#db, query);
    const first = rarest(counts) ?? 0;
    if (this.#ofStatuses(statuses) < Math.min(counts.prefix, ...counts.labels)) return byStatus;
    if (first === 'prefix') return selectByPrefix(query);
    return query.labels.length === 0 ? byStatus : selectByLabel(query, first);
  }

  /** How many runs have one of them, up to a bound. */
  #ofStatuses(statuses: readonly ThreadStatus[]): number {
    if (statuses.length === THREAD_STATUSES.length) return COUNTED;
    const count = prepare<[string], number>(this.#db, COUNT_STATUSES).pluck();
    return count.get(JSON.stringify(statuses)) ?? 0;
  }

  /** How many runs have each status. Reads an entry of an index for each run. */
  countByStatus(): readonly { readonly status: ThreadStatus; readonly runs: number }[] {
    return prepare<[object], { readonly status: ThreadStatus; readonly runs: number }>(
      this.#db,
      COUNT_BY_STATUS,
    ).all({});
  }

  /** Which named apps recorded runs of a graph: the one of this name, only others, or not any. */
  ownerOf(fingerprint: string, name: string | null): 'own' | 'other' | 'unknown' {
    const row = prepare<[object], { readonly own: 0 | 1; readonly named: 0 | 1 }>(this.#db, SELECT_OWNER).get(
      {
        fingerprint,
        name,
      },
    );
    return row?.own === 1 ? 'own' : row?.named === 1 ? 'other' : 'unknown';
  }

  /** Every run by its id, newest first. */
  ids(): readonly string[] {
    return prepare<[object], Pick<RunCursor, 'id'>>(this.#db, SELECT_IDS).all({}).map(runIdAt);
  }

  /** The first of them, or of those after a run. */
  idsAfter(after: string | null, limit: number): readonly string[] {
    return prepare<[object], Pick<RunCursor, 'id'>>(this.#db, SELECT_IDS_AFTER)
      .all({ after, limit })
      .map(runIdAt);
  }

  /** Runs without a folder and no child of another that ended before a time, ms, longest ago first; `after` is the last place that was seen. */
  ended(before: number, after: RunCursor | null, limit: number): readonly RunCursor[] {
    const from = after ?? { at: Number.MIN_SAFE_INTEGER, id: '' };
    return prepare<[object], RunCursor>(this.#db, SELECT_ENDED).all({ before, ...from, limit });
  }
}

const runIdAt = ({ id }: Pick<RunCursor, 'id'>): string => id;
