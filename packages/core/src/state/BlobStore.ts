import { createHash } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { assembleValue, type SplicePart } from './blobs/assembleValue.ts';
import { compress, decompress, type Encoded, type Encoding } from './blobs/compression.ts';
import { sharedEnds } from './blobs/sharedEnds.ts';
import { type CachedValue, ValueCache } from './blobs/ValueCache.ts';

interface BlobRow {
  readonly blobId: number;
  readonly sha256: Uint8Array;
  readonly size: number;
  readonly encoding: Encoding;
  readonly baseId: number | null;
  readonly prefix: number | null;
  readonly suffix: number | null;
  readonly bytes: Uint8Array;
}

/** What of a row is not its id and hash. */
type Stored = Omit<BlobRow, 'blobId' | 'sha256'>;

/** A value to store, beside its bytes. */
export interface PutOptions {
  /** Row of a value that this one probably resembles, such as its predecessor; it need not exist any more. */
  readonly base?: number | null;
  /** Of the bytes, where the caller has it already. */
  readonly sha256?: Uint8Array;
}

const INSERT = `
  INSERT INTO state_blobs (sha256, size, encoding, base_id, prefix, suffix, bytes)
  VALUES (@sha256, @size, @encoding, @baseId, @prefix, @suffix, @bytes)`;

const SELECT_ID = `
  SELECT blob_id FROM state_blobs WHERE sha256 = ?`;

const COLUMNS = 'blob_id AS blobId, sha256, size, encoding, base_id AS baseId, prefix, suffix, bytes';
const SELECT_BY_ID = `SELECT ${COLUMNS} FROM state_blobs WHERE blob_id = ?`;
const SELECT_BY_HASH = `SELECT ${COLUMNS} FROM state_blobs WHERE sha256 = ?`;
const SELECT_HASH = 'SELECT sha256 FROM state_blobs WHERE blob_id = ?';

/** Bytes; smaller values are stored whole: a splice of one would not be shorter than its row. */
const MIN_SPLICED_SIZE = 512;

/** Bytes a row takes in the file besides its value; counted so that tiny edits do not make endless chains. */
const ROW_BYTES = 96;

/** One per connection: the journal and the saver store the same values, one after the other. */
const caches = new WeakMap<Database, ValueCache>();

/**
 * Content-addressed bytes in `state_blobs`: equal bytes are one row.
 *
 * - B1 A value that resembles its base is a splice: kept prefix, new middle, kept suffix.
 * - B2 A value is stored whole when the splices since the last whole one have grown to that one's size. So a chain costs
 *   at most what its last whole value costs, to store and to read, and growth is linear in what changed.
 * - B3 A base is older than its splices and cannot be deleted before them.
 * - B4 A value is used only if the SHA-256 of all its bytes is the stored one.
 *
 * Opens no transaction of its own: `put` belongs into the transaction of the row that refers to the blob.
 */
export class BlobStore {
  readonly #cache: ValueCache;
  readonly #insert: Statement<[Omit<BlobRow, 'blobId'>]>;
  readonly #selectId: Statement<[Uint8Array], { readonly blob_id: number }>;
  readonly #selectHash: Statement<[number], { readonly sha256: Uint8Array }>;
  readonly #selectById: Statement<[number], BlobRow>;
  readonly #selectByHash: Statement<[Uint8Array], BlobRow>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, cache: ValueCache = cacheOf(db)) {
    this.#cache = cache;
    this.#insert = db.prepare(INSERT);
    this.#selectId = db.prepare(SELECT_ID);
    this.#selectHash = db.prepare(SELECT_HASH);
    this.#selectById = db.prepare(SELECT_BY_ID);
    this.#selectByHash = db.prepare(SELECT_BY_HASH);
  }

  /**
   * Stores bytes unless the file has them already.
   *
   * @param bytes - Kept in memory for the next splice: do not change them afterwards.
   * @returns The id of their row.
   * @throws DevsError `STATE_CORRUPT` if the base is damaged.
   */
  put(bytes: Uint8Array, { base = null, sha256 = hashBytes(bytes) }: PutOptions = {}): number {
    const known = this.#selectId.get(sha256);
    if (known !== undefined) return known.blob_id;
    const stored = (base === null ? null : this.#splice(bytes, sha256, base)) ?? this.#full(bytes, sha256);
    return Number(this.#insert.run({ sha256, ...stored }).lastInsertRowid);
  }

  /** @throws DevsError `STATE_CORRUPT` if there is no such blob, or its bytes are not those that were stored. */
  get(blobId: number): Uint8Array {
    return this.#valueOf(this.#require(blobId)).bytes;
  }

  /**
   * @param sha256 - The 32 bytes of the hash.
   * @returns `null` if the file does not have these bytes.
   * @throws DevsError `STATE_CORRUPT` if they are not those that were stored.
   */
  getByHash(sha256: Uint8Array): Uint8Array | null {
    const row = this.#selectByHash.get(sha256);
    return row === undefined ? null : this.#valueOf(row).bytes;
  }

  /** How to store a value as a splice of its base; `null` where a full value is due, or shorter. */
  #splice(bytes: Uint8Array, sha256: Uint8Array, baseId: number): Stored | null {
    if (bytes.byteLength < MIN_SPLICED_SIZE) return null;
    const base = this.#baseOf(baseId);
    if (base === null) return null;
    const { prefix, suffix } = sharedEnds(base.value.bytes, bytes);
    const middle = bytes.subarray(prefix, bytes.byteLength - suffix);
    if (middle.byteLength > bytes.byteLength / 2) return null;
    const encoded = compress(middle);
    const chainBytes = base.value.chainBytes + encoded.bytes.byteLength + ROW_BYTES;
    if (chainBytes > base.value.fullSize) return null;
    this.#cache.delete(base.sha256);
    this.#cache.set(sha256, { bytes, fullSize: base.value.fullSize, chainBytes });
    return { size: bytes.byteLength, baseId, prefix, suffix, ...encoded };
  }

  #full(bytes: Uint8Array, sha256: Uint8Array): Stored {
    const size = bytes.byteLength;
    if (size >= MIN_SPLICED_SIZE) this.#cache.set(sha256, { bytes, fullSize: size, chainBytes: 0 });
    return { size, baseId: null, prefix: null, suffix: null, ...compress(bytes) };
  }

  #baseOf(blobId: number): { readonly sha256: Uint8Array; readonly value: CachedValue } | null {
    const row = this.#selectHash.get(blobId);
    if (row === undefined) return null;
    const { sha256 } = row;
    return { sha256, value: this.#cache.get(sha256) ?? this.#valueOf(this.#require(blobId)) };
  }

  /** Reads a value from the file, never from memory: what is damaged must be noticed. */
  #valueOf(row: BlobRow): CachedValue {
    const { splices, full } = this.#chainOf(row);
    const bytes = assembled(row, splices, full);
    if (!equalBytes(hashBytes(bytes), row.sha256)) throw corrupt(row.blobId, 'does not match its SHA-256');
    const chainBytes = splices.reduce((sum, splice) => sum + splice.bytes.byteLength + ROW_BYTES, 0);
    return { bytes, fullSize: full.size, chainBytes };
  }

  #chainOf(row: BlobRow): { readonly splices: readonly BlobRow[]; readonly full: BlobRow } {
    const splices: BlobRow[] = [];
    let link = row;
    while (link.baseId !== null) {
      // A row is newer than its base (B3); anything else is damage, and could be a circle.
      if (link.baseId >= link.blobId) throw corrupt(row.blobId, 'rests on a newer one');
      splices.push(link);
      link = this.#require(link.baseId);
    }
    return { splices, full: link };
  }

  #require(blobId: number): BlobRow {
    const row = this.#selectById.get(blobId);
    if (row === undefined) throw corrupt(blobId, 'is missing');
    return row;
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

/** The driver and zlib give Buffers; a value comes back as what LangGraph put: a plain Uint8Array. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function cacheOf(db: Database): ValueCache {
  const cache = caches.get(db) ?? new ValueCache();
  caches.set(db, cache);
  return cache;
}

function assembled(row: BlobRow, splices: readonly BlobRow[], full: BlobRow): Uint8Array {
  try {
    const whole = decompress(full, full.size);
    if (splices.length === 0) return plainBytes(whole);
    return assembleValue(splices.map(toPart), { size: full.size, bytes: whole });
  } catch (error) {
    throw corrupt(row.blobId, 'cannot be put together', error);
  }
}

function toPart(row: BlobRow & Encoded): SplicePart {
  const { size, prefix, suffix } = row;
  return { size, prefix: prefix ?? 0, suffix: suffix ?? 0, bytes: decompress(row, size) };
}

function corrupt(blobId: number, what: string, cause?: unknown): DevsError {
  return new DevsError(`Blob ${blobId} of the state file ${what}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { blobId },
    cause,
  });
}
