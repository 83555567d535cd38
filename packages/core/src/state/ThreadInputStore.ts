import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { DevsError } from '../errors/DevsError.ts';
import { equalBytes, hashBytes, plainBytes } from './BlobStore.ts';
import type { TypedBytes } from './checkpointRecords.ts';

interface InputRow {
  readonly type: string;
  /** Base64 in rows of an older engine, which have no SHA-256. */
  readonly value: Buffer | string;
  readonly sha256: Buffer | null;
}

const INSERT = `
  INSERT INTO thread_inputs (thread_id, type, value, sha256) VALUES (@threadId, @type, @value, @sha256)`;

const UPDATE = `
  UPDATE thread_inputs SET type = @type, value = @value, sha256 = @sha256 WHERE thread_id = @threadId`;

/**
 * Rows of `thread_inputs`: what a run was given, as serialized bytes: its input until its first checkpoint holds it. A row of its
 * own, because every claim and every settlement rewrites the row of the run. What is read is checked against its SHA-256.
 */
export class ThreadInputStore {
  readonly #select: Statement<[string], InputRow>;
  readonly #selectType: Statement<[string], string>;
  readonly #insert: Statement<[object]>;
  readonly #update: Statement<[object]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#select = prepare(db, 'SELECT type, value, sha256 FROM thread_inputs WHERE thread_id = ?');
    this.#selectType = prepare<[string], string>(
      db,
      'SELECT type FROM thread_inputs WHERE thread_id = ?',
    ).pluck();
    this.#insert = prepare(db, INSERT);
    this.#update = prepare(db, UPDATE);
  }

  /** Records the input of a run, in the transaction that creates it. @param input - Masked. */
  insert(threadId: string, input: TypedBytes): void {
    this.#insert.run(toRow(threadId, input));
  }

  /** Puts another input in place of one that no checkpoint holds yet. @throws DevsError `STATE_CORRUPT` if there is none. */
  replace(threadId: string, input: TypedBytes): void {
    if (this.#update.run(toRow(threadId, input)).changes === 0) throw corrupt(threadId, 'is missing');
  }

  /** How the input of a run is serialized; `null` if it has none. */
  typeOf(threadId: string): string | null {
    return this.#selectType.get(threadId) ?? null;
  }

  /** @throws DevsError `STATE_CORRUPT` if the run has none, or not the one that was recorded. */
  require(threadId: string): TypedBytes {
    const row = this.#select.get(threadId);
    if (row === undefined) throw corrupt(threadId, 'is missing');
    const { type, value, sha256 } = row;
    const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : value;
    if (sha256 !== null && !equalBytes(hashBytes(bytes), sha256)) {
      throw corrupt(threadId, 'does not match its SHA-256');
    }
    return { type, bytes: plainBytes(bytes) };
  }
}

function toRow(threadId: string, { type, bytes }: TypedBytes): object {
  return { threadId, type, value: bytes, sha256: hashBytes(bytes) };
}

function corrupt(threadId: string, what: string): DevsError {
  return new DevsError(`The input of run "${threadId}" ${what}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { threadId },
  });
}
