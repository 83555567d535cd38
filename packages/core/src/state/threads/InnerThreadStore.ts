import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import type { NamespaceKey } from '../checkpoints/checkpointRecords.ts';

const INSERT = `
  INSERT INTO inner_threads (run_id, thread_id, checkpoint_ns) VALUES (@runId, @threadId, @checkpointNs)
  ON CONFLICT DO NOTHING`;

const SELECT = 'SELECT DISTINCT thread_id FROM inner_threads WHERE run_id = ? ORDER BY thread_id';

interface InnerThread extends NamespaceKey {
  /** The run with the node that has called the graph. */
  readonly runId: string;
}

/** The threads of graphs that nodes called under a `thread_id` of their own; the one writer of `inner_threads`. */
export class InnerThreadStore {
  readonly #insert: Statement<[InnerThread]>;
  readonly #select: Statement<[string], string>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#insert = prepare(db, INSERT);
    this.#select = prepare<[string], string>(db, SELECT).pluck();
  }

  /** A run has written in a namespace of another thread: in the caller's transaction. */
  note(inner: InnerThread): void {
    this.#insert.run(inner);
  }

  /** Threads that a run has written in, beside its own. */
  of(runId: string): readonly string[] {
    return this.#select.all(runId);
  }
}
