import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';

/** Checkpoints of all runs since, up to which they are looked through. Those of one run take longer to find one by one. */
const NEARBY = 100;

const CHECKPOINT = 'SELECT seq, thread_id, checkpoint_ns, checkpoint_id FROM checkpoints AS made';

// Since the run's own latest one, also those of graphs inside its nodes, and of runs inside the run: their ids begin with
// its own and a slash ('0' is the next character). Graphs inside may have threads of their own. While the run waited, others
// may have made any number. Then an index by thread finds its own. The way not taken begins behind all rows, or has
// no thread: SQLite would ask a condition beside the range of each row.
const SELECT_CHECKPOINTS = `
  WITH latest (seq) AS MATERIALIZED (
    SELECT coalesce((SELECT max(seq) FROM checkpoints WHERE thread_id = @threadId AND checkpoint_ns = ''), 0)
  ), way (seq, nearby, id) AS MATERIALIZED (
    SELECT seq, iif(is_far, ${Number.MAX_SAFE_INTEGER}, seq), iif(is_far, @threadId, NULL)
    FROM (SELECT seq, coalesce((SELECT max(seq) FROM checkpoints), 0) - seq > ${NEARBY} AS is_far FROM latest)
  )
  SELECT thread_id, checkpoint_ns, checkpoint_id FROM (
    ${CHECKPOINT} WHERE made.seq >= (SELECT nearby FROM way)
      AND (thread_id = @threadId OR (thread_id > @threadId || '/' AND thread_id < @threadId || '0') OR EXISTS (
        SELECT 1 FROM inner_threads AS inside
        WHERE inside.thread_id = made.thread_id AND inside.checkpoint_ns = made.checkpoint_ns AND inside.run_id = @threadId))
    UNION ALL
    ${CHECKPOINT} INDEXED BY checkpoints_by_namespace
    WHERE thread_id = (SELECT id FROM way) AND made.seq >= (SELECT seq FROM way)
    UNION ALL
    ${CHECKPOINT} INDEXED BY checkpoints_by_namespace
    WHERE thread_id > (SELECT id FROM way) || '/' AND thread_id < (SELECT id FROM way) || '0'
      AND made.seq >= (SELECT seq FROM way)
    UNION ALL
    SELECT made.seq, made.thread_id, made.checkpoint_ns, made.checkpoint_id
    FROM inner_threads AS inside CROSS JOIN checkpoints AS made INDEXED BY checkpoints_by_namespace
      ON made.thread_id = inside.thread_id AND made.checkpoint_ns = inside.checkpoint_ns
    WHERE inside.run_id = (SELECT id FROM way) AND made.seq >= (SELECT seq FROM way)
      AND inside.thread_id <> @threadId AND NOT (inside.thread_id > @threadId || '/' AND inside.thread_id < @threadId || '0')
  ) ORDER BY seq`;

// Not what was given under an interrupt's id (32 digits): that is on its way, whether or not a node takes it.
const SELECT_WRITES = `
  SELECT task_id, idx, hex(sha256) FROM checkpoint_writes
  WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND length(task_id) <> 32
  ORDER BY task_id, idx`;

const COUNT_DECISIONS = 'SELECT count(*) FROM hitl_sessions WHERE thread_id = ? AND decided_at IS NOT NULL';

type CheckpointTriple = [threadId: string, checkpointNs: string, checkpointId: string];

/** What a run has come to, to be compared: its checkpoints, what tasks wrote on top of them, how much was decided. */
export class RunFootprint {
  readonly #checkpoints: Statement<[{ readonly threadId: string }], CheckpointTriple>;
  readonly #writes: Statement<CheckpointTriple, readonly unknown[]>;
  readonly #decisions: Statement<[string], number>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#checkpoints = prepare<[{ readonly threadId: string }], CheckpointTriple>(
      db,
      SELECT_CHECKPOINTS,
    ).raw();
    this.#writes = prepare<CheckpointTriple, readonly unknown[]>(db, SELECT_WRITES).raw();
    this.#decisions = prepare<[string], number>(db, COUNT_DECISIONS).pluck();
  }

  /** Equal as long as nothing has happened. */
  of(threadId: string): string {
    return sha256Hex(JSON.stringify([...this.#made(threadId), this.#decisions.get(threadId)]));
  }

  /** The same without the decisions. */
  made(threadId: string): string {
    return JSON.stringify(this.#made(threadId));
  }

  #made(threadId: string): readonly [checkpoints: readonly CheckpointTriple[], writes: readonly unknown[]] {
    const checkpoints = this.#checkpoints.all({ threadId });
    return [checkpoints, checkpoints.map((key) => this.#writes.all(...key))];
  }
}
