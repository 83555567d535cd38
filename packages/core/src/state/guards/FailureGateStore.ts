import type { Database, Statement } from 'better-sqlite3';
import { readKept } from '../../db/keptReads.ts';
import { prepare } from '../../db/prepare.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';

/** A task that was handed to a human and waits for the answer. */
export interface FailureGate {
  readonly id: string;
  readonly taskId: string;
  /** How much the task repeated itself, in [0, 1]. */
  readonly entropyScore: number;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly triggeredAt: number;
  readonly sessionId: string;
  /** `entropy_limit`, `pivots_exhausted`, … */
  readonly reason: string;
}

/** A failure gate that was answered, or taken back. */
export interface ResolvedFailureGate extends FailureGate {
  /** Milliseconds since the Unix epoch, UTC. */
  readonly resolvedAt: number;
  /** The answer's action, `resumed`, `rewound` or `cancelled`. */
  readonly resolution: string;
}

export interface Resolution {
  readonly resolution: string;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly resolvedAt: number;
  /** Only the gate of this session. */
  readonly sessionId?: string;
}

const COLUMNS = `
  id, task_id AS taskId, entropy_score AS entropyScore, triggered_at AS triggeredAt, session_id AS sessionId, reason`;

const INSERT = `
  INSERT INTO hitl_failure_gates (id, task_id, entropy_score, triggered_at, session_id, reason)
  VALUES (@id, @taskId, @entropyScore, @triggeredAt, @sessionId, @reason)`;

const COPY_TO_HISTORY = `
  INSERT INTO hitl_failure_gates_history
    (id, task_id, entropy_score, triggered_at, session_id, reason, resolved_at, resolution)
  SELECT id, task_id, entropy_score, triggered_at, session_id, reason, @resolvedAt, @resolution
  FROM hitl_failure_gates WHERE task_id = @taskId`;

const SELECT_HISTORY = `
  SELECT ${COLUMNS}, resolved_at AS resolvedAt, resolution
  FROM hitl_failure_gates_history WHERE task_id = ? ORDER BY rowid ASC`;

/** Rows of `hitl_failure_gates`: at most one per task, moved to history when answered so the task can trip again. */
export class FailureGateStore {
  readonly #db: Database;
  readonly #select: Statement<[string], FailureGate>;
  readonly #insert: Statement<[FailureGate]>;
  readonly #copyToHistory: Statement<[object]>;
  readonly #delete: Statement<[string]>;
  readonly #selectHistory: Statement<[string], ResolvedFailureGate>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
    this.#select = prepare(db, `SELECT ${COLUMNS} FROM hitl_failure_gates WHERE task_id = ?`);
    this.#insert = prepare(db, INSERT);
    this.#copyToHistory = prepare(db, COPY_TO_HISTORY);
    this.#delete = prepare(db, 'DELETE FROM hitl_failure_gates WHERE task_id = ?');
    this.#selectHistory = prepare(db, SELECT_HISTORY);
  }

  findByTask(taskId: string): FailureGate | null {
    const read = (): FailureGate | null => this.#select.get(taskId) ?? null;
    // A run without tasks is its own.
    return readKept(this.#db, {
      threadId: taskId,
      name: 'failure gate',
      tables: ['hitl_failure_gates'],
      read,
    });
  }

  /** @throws SqliteError `SQLITE_CONSTRAINT_UNIQUE` if the task already has a gate. */
  insert(gate: FailureGate): void {
    this.#insert.run(gate);
  }

  /** Moves the task's gate to history; false if it has none, or has a newer one than that of `sessionId`. */
  archive(taskId: string, { resolution, resolvedAt, sessionId }: Resolution): boolean {
    const move = (): boolean => {
      if (sessionId !== undefined && this.findByTask(taskId)?.sessionId !== sessionId) return false;
      this.#copyToHistory.run({ taskId, resolution, resolvedAt });
      return this.#delete.run(taskId).changes === 1;
    };
    return immediateTransaction(this.#db, move);
  }

  /** Answered gates of a task, oldest first. */
  historyOf(taskId: string): readonly ResolvedFailureGate[] {
    return this.#selectHistory.all(taskId);
  }
}
