import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { BlobStore } from '../blobs/BlobStore.ts';
import { BlobSweeper } from '../blobs/BlobSweeper.ts';
import { type Fence, immediateTransaction } from '../commits/immediateTransaction.ts';
import { parseStored, type StoreOptions } from '../rows/rows.ts';
import type { StepKey } from './stepRecords.ts';

/** One attempt at one step. */
export interface TranscribedStep extends StepKey {
  readonly attempt: number;
  readonly node: string;
  readonly taskId: string | null;
}

/** What was told in about a second. */
export interface TranscriptPiece {
  /** Plain JSON, masked. */
  readonly entries: readonly unknown[];
  /** Characters that were told before it and are not kept. */
  readonly skipped: number;
}

/** Pieces that make room. */
export interface MadeRoom {
  readonly seqs: readonly number[];
  /** Characters in them. */
  readonly size: number;
  /** The piece after them, which says that they are gone. */
  readonly before: number;
}

/** A piece as it is in the file. */
export interface StoredPiece extends TranscribedStep {
  /** Grows; never used again. */
  readonly seq: number;
  readonly skipped: number;
  /** Milliseconds since the Unix epoch, UTC: when it was written. */
  readonly at: number;
  readonly blobId: number;
}

const INSERT = `
  INSERT INTO step_transcripts (thread_id, lg_task_id, name, attempt, node, task_id, skipped, blob_id, at)
  VALUES (@threadId, @lgTaskId, @name, @attempt, @node, @taskId, @skipped, @blobId, @now)`;

const COLUMNS = `
  seq, thread_id AS threadId, lg_task_id AS lgTaskId, name, attempt, node, task_id AS taskId, skipped,
  blob_id AS blobId, at`;

const SELECT = `
  SELECT ${COLUMNS} FROM step_transcripts WHERE thread_id = ? AND seq > ? ORDER BY seq ASC LIMIT ?`;

const DELETE = 'DELETE FROM step_transcripts WHERE seq = ? RETURNING blob_id AS blobId, skipped';

const ADD_SKIPPED = 'UPDATE step_transcripts SET skipped = skipped + @size WHERE seq = @before';

// Of the attempts at a step of a task, the one that was written last is kept.
const DELETE_OLDER_ATTEMPTS = `
  DELETE FROM step_transcripts AS old
  WHERE thread_id = @threadId AND EXISTS (
    SELECT 1 FROM step_transcripts AS new
    WHERE new.thread_id = @threadId AND new.name = old.name AND new.node = old.node AND new.task_id IS old.task_id
      AND new.seq > old.seq AND (new.lg_task_id <> old.lg_task_id OR new.attempt <> old.attempt))`;

/** Pieces read at a time, so that a long transcript need not be in memory as a whole. */
const PAGE = 64;

/**
 * Transcripts of steps: pieces of what was told while they ran, as compressed blobs.
 *
 * Derived, never the truth: nothing is decided by it, and {@link write} may fail without harm to the run (law L6).
 */
export class TranscriptStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #blobs: BlobStore;
  readonly #sweeper: BlobSweeper;
  readonly #insert: Statement<[object]>;
  readonly #select: Statement<[string, number, number], StoredPiece>;
  readonly #delete: Statement<[number], Pick<StoredPiece, 'blobId' | 'skipped'>>;
  readonly #addSkipped: Statement<[Pick<MadeRoom, 'size' | 'before'>]>;
  readonly #deleteOlderAttempts: Statement<[{ readonly threadId: string }]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#db = db;
    this.#now = now;
    this.#blobs = new BlobStore(db);
    this.#sweeper = new BlobSweeper(db);
    this.#insert = prepare(db, INSERT);
    this.#select = prepare(db, SELECT);
    this.#delete = prepare(db, DELETE);
    this.#addSkipped = prepare(db, ADD_SKIPPED);
    this.#deleteOlderAttempts = prepare(db, DELETE_OLDER_ATTEMPTS);
  }

  /**
   * Appends a piece; returns its position.
   *
   * @param dropped - Earlier pieces of the same step that make room for it.
   * @throws DevsError `LEASE_LOST`, `STATE_…`; nothing is written then.
   */
  write(
    { threadId, lgTaskId, name, attempt, node, taskId }: TranscribedStep,
    { entries, skipped }: TranscriptPiece,
    { fence, dropped }: { readonly fence: Fence; readonly dropped?: MadeRoom },
  ): number {
    return immediateTransaction(this.#db, () => {
      fence.assertInTx();
      if (dropped !== undefined) this.#drop(dropped);
      const blobId = this.#blobs.put(Buffer.from(JSON.stringify(entries)));
      const row = { threadId, lgTaskId, name, attempt, node, taskId, skipped, blobId, now: this.#now() };
      return Number(this.#insert.run(row).lastInsertRowid);
    });
  }

  #drop({ seqs, size, before }: MadeRoom): void {
    const gone = seqs.flatMap((seq) => this.#delete.all(seq));
    this.#addSkipped.run({ size: gone.reduce((sum, { skipped }) => sum + skipped, size), before });
    this.#sweeper.sweep(gone.map(({ blobId }) => blobId));
  }

  /** Pieces of a run, oldest first, without what is in them. */
  *pieces(threadId: string, afterSeq = 0): Generator<StoredPiece> {
    for (let last = afterSeq; ; ) {
      const page = this.#select.all(threadId, last, PAGE);
      yield* page;
      if (page.length < PAGE) return;
      last = page.at(-1)?.seq ?? last;
    }
  }

  /** @throws DevsError `STATE_CORRUPT` if it is not what was written. */
  entriesOf({ seq, blobId }: Pick<StoredPiece, 'seq' | 'blobId'>): readonly unknown[] {
    const json = Buffer.from(this.#blobs.get(blobId)).toString('utf8');
    return parseStored(json, `transcript ${seq}`) as readonly unknown[];
  }

  /**
   * Drops what earlier attempts at each step of a run told; returns how many pieces. Their blobs are left to a sweep.
   */
  dropOlderAttempts(threadId: string): number {
    return this.#deleteOlderAttempts.run({ threadId }).changes;
  }
}
