import { createHash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import type { Database, Statement } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';

type Encoding = 'raw' | 'deflate';

interface BlobRow {
  readonly blob_id: number;
  readonly sha256: Uint8Array;
  readonly size: number;
  readonly encoding: Encoding;
  readonly bytes: Uint8Array;
}

/** How a value lies in its row. */
interface Stored {
  readonly encoding: Encoding;
  readonly bytes: Uint8Array;
}

const INSERT = `
  INSERT INTO state_blobs (sha256, size, encoding, bytes) VALUES (?, ?, ?, ?)`;

const SELECT_ID = `
  SELECT blob_id FROM state_blobs WHERE sha256 = ?`;

const COLUMNS = 'blob_id, sha256, size, encoding, bytes';
const SELECT_BY_ID = `SELECT ${COLUMNS} FROM state_blobs WHERE blob_id = ?`;
const SELECT_BY_HASH = `SELECT ${COLUMNS} FROM state_blobs WHERE sha256 = ?`;

/** Bytes; below this, compression costs more than it saves. */
const MIN_DEFLATE_SIZE = 128;

/** The fastest: commits wait for it. */
const DEFLATE_LEVEL = 1;

/**
 * Content-addressed bytes in `state_blobs`: equal bytes are one row.
 *
 * Opens no transaction of its own: `put` belongs into the transaction of the row that refers to the blob.
 */
export class BlobStore {
  readonly #insert: Statement<[Uint8Array, number, Encoding, Uint8Array]>;
  readonly #selectId: Statement<[Uint8Array], { readonly blob_id: number }>;
  readonly #selectById: Statement<[number], BlobRow>;
  readonly #selectByHash: Statement<[Uint8Array], BlobRow>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#insert = db.prepare(INSERT);
    this.#selectId = db.prepare(SELECT_ID);
    this.#selectById = db.prepare(SELECT_BY_ID);
    this.#selectByHash = db.prepare(SELECT_BY_HASH);
  }

  /** Stores bytes unless the file has them already. @returns The id of their row. */
  put(bytes: Uint8Array): number {
    const sha256 = hashBytes(bytes);
    const known = this.#selectId.get(sha256);
    if (known !== undefined) return known.blob_id;
    const stored = encode(bytes);
    return Number(this.#insert.run(sha256, bytes.byteLength, stored.encoding, stored.bytes).lastInsertRowid);
  }

  /** @throws DevsError `STATE_CORRUPT` if there is no such blob, or its bytes are not those that were stored. */
  get(blobId: number): Uint8Array {
    const row = this.#selectById.get(blobId);
    if (row === undefined) throw corrupt(blobId, 'is missing');
    return verified(row);
  }

  /**
   * @param sha256 - The 32 bytes of the hash.
   * @returns `null` if the file does not have these bytes.
   * @throws DevsError `STATE_CORRUPT` if they are not those that were stored.
   */
  getByHash(sha256: Uint8Array): Uint8Array | null {
    const row = this.#selectByHash.get(sha256);
    return row === undefined ? null : verified(row);
  }
}

/** SHA-256, as the 32 bytes that the tables hold. */
export function hashBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function encode(bytes: Uint8Array): Stored {
  if (bytes.byteLength >= MIN_DEFLATE_SIZE) {
    const deflated = deflateSync(bytes, { level: DEFLATE_LEVEL });
    if (deflated.byteLength < bytes.byteLength) return { encoding: 'deflate', bytes: deflated };
  }
  return { encoding: 'raw', bytes };
}

/** The whole value of a row. Every row is a full value today; a splice would be put together here. */
function decode({ encoding, bytes, size }: BlobRow): Uint8Array {
  // The limit keeps a damaged row from growing into memory before its hash is checked.
  return encoding === 'raw' ? bytes : inflateSync(bytes, { maxOutputLength: Math.max(size, 1) });
}

function verified(row: BlobRow): Uint8Array {
  const value = decodeOrRefuse(row);
  if (!equalBytes(hashBytes(value), row.sha256)) throw corrupt(row.blob_id, 'does not match its SHA-256');
  return plainBytes(value);
}

function decodeOrRefuse(row: BlobRow): Uint8Array {
  try {
    return decode(row);
  } catch (error) {
    throw corrupt(row.blob_id, 'cannot be decompressed', error);
  }
}

/** The driver and zlib give Buffers; a value comes back as what LangGraph put: a plain Uint8Array. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function corrupt(blobId: number, what: string, cause?: unknown): DevsError {
  return new DevsError(`Blob ${blobId} of the state file ${what}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { blobId },
    cause,
  });
}
