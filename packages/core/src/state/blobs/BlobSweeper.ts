import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';

/** What was deleted. */
export interface Swept {
  readonly blobs: number;
  /** Bytes of their rows' values; the file itself keeps its size and reuses them. */
  readonly bytes: number;
}

export const NOTHING_SWEPT: Swept = { blobs: 0, bytes: 0 };

export const addSwept = (one: Swept, other: Swept): Swept => ({
  blobs: one.blobs + other.blobs,
  bytes: one.bytes + other.bytes,
});

interface DeletedRow {
  readonly baseId: number | null;
  readonly bytes: number;
}

/** Values looked at in one transaction: some milliseconds, in which nobody else can write. */
const BATCH = 500;

// A value rests on nothing newer than itself, so the newest go first.
const SELECT_BATCH = 'SELECT blob_id FROM state_blobs WHERE blob_id < ? ORDER BY blob_id DESC LIMIT ?';

const DELETE_UNUSED = `
  DELETE FROM state_blobs
  WHERE blob_id = @blobId
    AND NOT EXISTS (SELECT 1 FROM checkpoint_blobs WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM checkpoint_writes WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM agent_steps WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM step_transcripts WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM journal_values WHERE blob_id = @blobId)
    AND NOT EXISTS (SELECT 1 FROM state_blobs WHERE base_id = @blobId)
  RETURNING base_id AS baseId, length(bytes) AS bytes`;

/**
 * Deletes values that nothing refers to any more: no channel, write, step, transcript or turn, and no
 * splice. A value that is only the
 * base of another stays with it.
 */
export class BlobSweeper {
  readonly #db: Database;
  readonly #selectBatch: Statement<[number, number], number>;
  readonly #delete: Statement<[{ readonly blobId: number }], DeletedRow>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#db = db;
    this.#selectBatch = prepare<[number, number], number>(db, SELECT_BATCH).pluck();
    this.#delete = prepare(db, DELETE_UNUSED);
  }

  /**
   * Looks at every value of the file, some of them per round, each in a transaction of its own: whoever waits to write
   * does so between two rounds. What is referred to anew meanwhile stays.
   */
  *rounds(): Generator<Swept> {
    for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
      const seen: number = before;
      const { swept, last } = immediateTransaction(this.#db, () => {
        const batch = this.#selectBatch.all(seen, BATCH);
        return { swept: this.#sweep(batch), last: batch.at(-1) };
      });
      before = last;
      yield swept;
    }
  }

  /** Looks at the given values, and at the bases of those it deletes; in the transaction that took the references away. */
  sweep(blobIds: Iterable<number>): Swept {
    return this.#sweep([...new Set(blobIds)].sort((a, b) => b - a));
  }

  #sweep(newestFirst: readonly number[]): Swept {
    let swept = NOTHING_SWEPT;
    for (const blobId of newestFirst) {
      let next: number | null = blobId;
      while (next !== null) {
        const deleted: DeletedRow | undefined = this.#delete.get({ blobId: next });
        if (deleted === undefined) break;
        swept = addSwept(swept, { blobs: 1, bytes: deleted.bytes });
        next = deleted.baseId;
      }
    }
    return swept;
  }
}
