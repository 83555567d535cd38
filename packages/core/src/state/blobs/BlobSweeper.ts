import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { referencesOf, type StoredState } from '../journaledState.ts';

/** What was deleted. */
export interface Swept {
  readonly blobs: number;
  /** Bytes of their rows' values; the file itself keeps its size and reuses them. */
  readonly bytes: number;
}

interface DeletedRow {
  readonly baseId: number | null;
  readonly bytes: number;
}

// A value rests on nothing newer than itself, so the newest go first.
const SELECT_ALL = 'SELECT blob_id FROM state_blobs ORDER BY blob_id DESC';

const SELECT_MANIFESTS = `
  SELECT serialized_state, sha256 FROM langgraph_checkpoints WHERE serialized_state LIKE '{"$devs":%'`;

const DELETE_UNUSED = `
  DELETE FROM state_blobs
  WHERE blob_id = @blobId
    AND NOT EXISTS (SELECT 1 FROM checkpoint_blobs WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM checkpoint_writes WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM agent_steps WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM step_transcripts WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM state_blobs WHERE base_id = @blobId)
  RETURNING base_id AS baseId, length(bytes) AS bytes`;

/**
 * Deletes values that nothing refers to any more: no channel, write, step, transcript or turn, and no
 * splice. A value that is only the
 * base of another stays with it.
 *
 * Opens no transaction of its own: a sweep belongs into the transaction that took the references away.
 */
export class BlobSweeper {
  readonly #db: Database;
  readonly #selectAll: Statement<[], number>;
  readonly #delete: Statement<[{ readonly blobId: number }], DeletedRow>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
    this.#selectAll = prepare<[], number>(db, SELECT_ALL).pluck();
    this.#delete = prepare(db, DELETE_UNUSED);
  }

  /** Looks at every value of the file. */
  sweepAll(): Swept {
    return this.#sweep(this.#selectAll.all());
  }

  /** Looks at the given values, and at the bases of those it deletes. */
  sweep(blobIds: Iterable<number>): Swept {
    return this.#sweep([...new Set(blobIds)].sort((a, b) => b - a));
  }

  #sweep(newestFirst: readonly number[]): Swept {
    if (newestFirst.length === 0) return { blobs: 0, bytes: 0 };
    const journaled = this.#journaled();
    let swept: Swept = { blobs: 0, bytes: 0 };
    for (const blobId of newestFirst) {
      let next: number | null = blobId;
      while (next !== null && !journaled.has(next)) {
        const deleted: DeletedRow | undefined = this.#delete.get({ blobId: next });
        if (deleted === undefined) break;
        swept = { blobs: swept.blobs + 1, bytes: swept.bytes + deleted.bytes };
        next = deleted.baseId;
      }
    }
    return swept;
  }

  /** The journal refers to values inside its text, where no index can see them. */
  #journaled(): ReadonlySet<number> {
    const turns = prepare<[], StoredState>(this.#db, SELECT_MANIFESTS).all();
    return new Set(turns.flatMap((turn) => Object.values(referencesOf(turn))));
  }
}
