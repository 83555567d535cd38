import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';

const ADD = `
  INSERT INTO driven_time (thread_id, task_id, ms) VALUES (@threadId, @taskId, @ms)
  ON CONFLICT (thread_id, task_id) DO UPDATE SET ms = ms + excluded.ms`;

const SUM = `
  SELECT coalesce(sum(ms), 0) FROM driven_time WHERE thread_id = @threadId AND (@taskId IS NULL OR task_id = @taskId)`;

const BEFORE = `
  SELECT driven_before FROM thread_inputs WHERE thread_id = @threadId ORDER BY turn DESC LIMIT 1`;

const SUM_OF_TURN = `
  SELECT coalesce(sum(ms), 0) - coalesce((${BEFORE}), 0) FROM driven_time WHERE thread_id = @threadId`;

/** Rows of `driven_time`: how long a run was driven, in milliseconds, up to its last recorded moment. */
export class DrivenTimeStore {
  readonly #add: Statement<[object]>;
  readonly #sum: Statement<[object], number>;
  readonly #sumOfTurn: Statement<[object], number>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#add = prepare(db, ADD);
    this.#sum = prepare<[object], number>(db, SUM).pluck();
    this.#sumOfTurn = prepare<[object], number>(db, SUM_OF_TURN).pluck();
  }

  /** Adds to a task's time, in the caller's transaction; `null` is the time outside a task. */
  add(threadId: string, taskId: string | null, ms: number): void {
    this.#add.run({ threadId, taskId: taskId ?? '', ms });
  }

  /** Of the turn that a run stands in. */
  ofTurn(threadId: string): number {
    return this.#sumOfTurn.get({ threadId }) ?? 0;
  }

  /** Of one task, or of the whole run with `null`. */
  of(threadId: string, taskId: string | null): number {
    return this.#sum.get({ threadId, taskId }) ?? 0;
  }
}
