import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';

const ADD = `
  INSERT INTO driven_time (thread_id, task_id, ms) VALUES (@threadId, @taskId, @ms)
  ON CONFLICT (thread_id, task_id) DO UPDATE SET ms = ms + excluded.ms`;

const SUM = `
  SELECT coalesce(sum(ms), 0) FROM driven_time WHERE thread_id = @threadId AND (@taskId IS NULL OR task_id = @taskId)`;

/** Rows of `driven_time`: how long a run was driven, in milliseconds, up to its last recorded moment. */
export class DrivenTimeStore {
  readonly #add: Statement<[object]>;
  readonly #sum: Statement<[object], number>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#add = prepare(db, ADD);
    this.#sum = prepare<[object], number>(db, SUM).pluck();
  }

  /** Adds to a task's time, in the caller's transaction; `null` is the time outside a task. */
  add(threadId: string, taskId: string | null, ms: number): void {
    this.#add.run({ threadId, taskId: taskId ?? '', ms });
  }

  /** Of one task, or of the whole run with `null`. */
  of(threadId: string, taskId: string | null): number {
    return this.#sum.get({ threadId, taskId }) ?? 0;
  }
}
