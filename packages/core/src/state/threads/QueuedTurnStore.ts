import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { equalBytes, hashBytes, plainBytes } from '../blobs/BlobStore.ts';
import type { TypedBytes } from '../checkpoints/checkpointRecords.ts';
import { type StoreOptions, sealNumber, useSeals } from '../rows/rows.ts';

/** A turn that waits for the end of the one before it, or was cancelled while it waited. */
export interface QueuedTurn {
  readonly key: string;
  readonly given: TypedBytes;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly queuedAt: number;
  /** Milliseconds since the Unix epoch, UTC; `null` while it waits. */
  readonly droppedAt: number | null;
}

interface QueuedRow extends Omit<QueuedTurn, 'given'> {
  readonly position: number;
  readonly type: string;
  readonly value: Buffer;
  readonly sha256: Buffer;
  readonly seal: number;
}

const SELECT = `
  SELECT position, turn_key AS key, type, value, sha256, seal, queued_at AS queuedAt, dropped_at AS droppedAt
  FROM queued_turns WHERE thread_id = @threadId`;

const INSERT = `
  INSERT INTO queued_turns (thread_id, position, turn_key, type, value, sha256, seal, queued_at)
  SELECT @threadId, next.position, @key, @type, @value, @sha256,
         seal_of(@threadId, next.position, @key, @type, @sha256), @now
  FROM (SELECT coalesce(max(position), 0) + 1 AS position FROM queued_turns WHERE thread_id = @threadId) AS next`;

const DROP = `
  UPDATE queued_turns SET dropped_at = @now
  WHERE thread_id = @threadId AND dropped_at IS NULL AND (@key IS NULL OR turn_key = @key)`;

const DELETE = 'DELETE FROM queued_turns WHERE thread_id = ? AND turn_key = ?';

/**
 * Rows of `queued_turns`: turns that are to begin when the one before has ended, in this order, and those that were cancelled
 * meanwhile, so that their keys stay known. Works in the caller's transaction.
 */
export class QueuedTurnStore {
  readonly #db: Database;
  readonly #now: () => number;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    useSeals(db);
    this.#db = db;
    this.#now = now;
  }

  /** Behind those that wait already. */
  insert(threadId: string, key: string, { type, bytes: value }: TypedBytes): void {
    const row = { threadId, key, type, value, sha256: hashBytes(value), now: this.#now() };
    prepare<[object]>(this.#db, INSERT).run(row);
  }

  /** @throws DevsError `STATE_CORRUPT` if the row was changed. */
  find(threadId: string, key: string): QueuedTurn | null {
    return this.#select(threadId, 'AND turn_key = @key', { key })[0] ?? null;
  }

  /** The one that begins next, if any. @throws DevsError as {@link find}. */
  next(threadId: string): QueuedTurn | null {
    return this.#select(threadId, 'AND dropped_at IS NULL ORDER BY position LIMIT 1')[0] ?? null;
  }

  /** Those that wait and those that were cancelled, in order. @throws DevsError as {@link find}. */
  list(threadId: string): readonly QueuedTurn[] {
    return this.#select(threadId, 'ORDER BY position');
  }

  /** Cancels the one of a key, or with `null` all; false if the queue has not got it. */
  drop(threadId: string, key: string | null): boolean {
    return prepare<[object]>(this.#db, DROP).run({ threadId, key, now: this.#now() }).changes > 0;
  }

  /** It begins, and is a turn of the run from then on. */
  remove(threadId: string, key: string): void {
    prepare<[string, string]>(this.#db, DELETE).run(threadId, key);
  }

  #select(threadId: string, condition: string, values: object = {}): readonly QueuedTurn[] {
    return prepare<[object], QueuedRow>(this.#db, `${SELECT} ${condition}`)
      .all({ threadId, ...values })
      .map((row) => toQueued(threadId, row));
  }
}

function toQueued(threadId: string, row: QueuedRow): QueuedTurn {
  const { position, key, type, value, sha256, seal, ...times } = row;
  const isSound = seal === sealNumber([threadId, position, key, type, sha256]);
  if (!isSound || !equalBytes(hashBytes(value), sha256))
    throw new DevsError(`The queued turn "${key}" of run "${threadId}" is not what was recorded.`, {
      code: 'STATE_CORRUPT',
      remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
      context: { threadId, turn: key },
    });
  return { key, given: { type, bytes: plainBytes(value) }, ...times };
}
