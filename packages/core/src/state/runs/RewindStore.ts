import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { parseStored, type StoreOptions } from '../rows/rows.ts';

/** `intent`: recorded, and the run's files may not have followed yet. `undone`: it was taken back. */
export type RewindState = 'intent' | 'done' | 'undone';

/** A task as it was when a run was set back. */
export interface UndoneTask {
  readonly taskId: string;
  readonly status: string;
  /** Its commits that were taken out of the branch, oldest first, by the ids they were made under. */
  readonly commits: readonly string[];
}

/** Where the run stood, who set it back, and where its files go. Plain JSON. */
export interface RewindBefore {
  /** The checkpoint the run stood at. */
  readonly checkpointId: string;
  /** The one that was put on top of it. */
  readonly placedId: string;
  /** Status of the run. */
  readonly status: string;
  /** Who set it back, as the log names them. */
  readonly principal: string;
  /** Masked. */
  readonly reason: string | null;
  /** Tree the run's folder becomes equal to; `null` in a run without a folder. */
  readonly folder: string | null;
  /** The rewind that this one takes back. */
  readonly takesBack: string | null;
}

export interface NewRewind {
  readonly id: string;
  readonly threadId: string;
  readonly targetTaskId: string;
  readonly undone: readonly UndoneTask[];
  readonly before: RewindBefore;
  /** Commit of the run's branch; `null` where there is none. */
  readonly refBefore: string | null;
  readonly refAfter: string | null;
}

export interface Rewind extends NewRewind {
  readonly state: RewindState;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly createdAt: number;
  readonly undoneAt: number | null;
}

interface RewindRow extends Omit<Rewind, 'undone' | 'before'> {
  readonly undoneJson: string;
  readonly beforeJson: string;
}

const SELECT = `
  SELECT id, thread_id AS threadId, target_task_id AS targetTaskId, undone_json AS undoneJson,
         before_json AS beforeJson, ref_before AS refBefore, ref_after AS refAfter, state,
         created_at AS createdAt, undone_at AS undoneAt
  FROM rewinds WHERE thread_id = ? ORDER BY rowid ASC`;

const INSERT = `
  INSERT INTO rewinds (id, thread_id, target_task_id, undone_json, before_json, ref_before, ref_after, state, created_at)
  VALUES (@id, @threadId, @targetTaskId, @undoneJson, @beforeJson, @refBefore, @refAfter, 'intent', @now)`;

/** Rows of `rewinds`: who set a run back to which task, and what that undid. Rows are kept. */
export class RewindStore {
  readonly #now: () => number;
  readonly #select: Statement<[string], RewindRow>;
  readonly #insert: Statement<[object]>;
  readonly #finish: Statement<[string]>;
  readonly #markUndone: Statement<[number, string]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#now = now;
    this.#select = prepare(db, SELECT);
    this.#insert = prepare(db, INSERT);
    this.#finish = prepare(db, "UPDATE rewinds SET state = 'done' WHERE id = ? AND state = 'intent'");
    this.#markUndone = prepare(
      db,
      "UPDATE rewinds SET state = 'undone', undone_at = ? WHERE id = ? AND state = 'done'",
    );
  }

  /** Rewinds of a run, oldest first. */
  list(threadId: string): readonly Rewind[] {
    return this.#select.all(threadId).map(rewindFromRow);
  }

  /** The rewind whose files may not have followed yet; `null` when there is none. */
  unfinished(threadId: string): Rewind | null {
    return this.list(threadId).find(({ state }) => state === 'intent') ?? null;
  }

  /** Records a rewind as an intent, in the caller's transaction. */
  insert({ undone, before, ...columns }: NewRewind): void {
    const json = { undoneJson: canonicalJson(undone), beforeJson: canonicalJson(before) };
    this.#insert.run({ ...columns, ...json, now: this.#now() });
  }

  /** The run's files have followed. */
  finish(id: string): void {
    this.#finish.run(id);
  }

  /** True for exactly one caller. */
  markUndone(id: string): boolean {
    return this.#markUndone.run(this.#now(), id).changes === 1;
  }
}

function rewindFromRow({ undoneJson, beforeJson, ...row }: RewindRow): Rewind {
  return {
    ...row,
    undone: parseStored(undoneJson, 'a rewind') as readonly UndoneTask[],
    before: parseStored(beforeJson, 'a rewind') as RewindBefore,
  };
}
