import { createHash, hash } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { TableKnowledge } from '../../db/keptReads.ts';
import { prepare } from '../../db/prepare.ts';
import { isWorkingCopy } from '../../db/workingCopies.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { RecentMap } from '../../values/RecentMap.ts';
import { compress, decompress } from './compression.ts';
import { assembleValue, commonEnds, type SplicePart } from './splices.ts';
import { type CachedValue, type StoredValue, ValueCache } from './ValueCache.ts';

interface BlobRow extends StoredValue {
  readonly blobId: number;
  readonly sha256: Uint8Array;
  /** As of {@link blobSeal}; `null` in rows of before. */
  readonly seal: number | null;
}

type BlobHead = Omit<BlobRow, 'bytes'>;

/** A value to store, beside its bytes. */
export interface PutOptions {
  /** Row of a value that this one probably resembles, such as its predecessor; it need not exist any more. */
  readonly base?: number | null;
  /** Of the bytes, where the caller has it already. */
  readonly sha256?: Uint8Array;
}

const INSERT = `
  INSERT INTO state_blobs (blob_id, sha256, size, encoding, base_id, prefix, suffix, bytes, seal)
  VALUES (@blobId, @sha256, @size, @encoding, @baseId, @prefix, @suffix, @bytes, @seal)`;

const SELECT_NEXT_ID = 'SELECT coalesce(max(blob_id), 0) + 1 FROM state_blobs';

const SELECT_ID = `
  SELECT blob_id FROM state_blobs WHERE sha256 = ?`;

const HEAD_COLUMNS = 'blob_id AS blobId, sha256, size, encoding, base_id AS baseId, prefix, suffix, seal';
const SELECT_HEAD = `SELECT ${HEAD_COLUMNS} FROM state_blobs WHERE blob_id = ?`;
const SELECT_ROW = `SELECT ${HEAD_COLUMNS}, bytes FROM state_blobs WHERE blob_id = ?`;

// Compared where they are: to copy them out costs more than the comparison.
const SELECT_SAME = 'SELECT bytes = ? FROM state_blobs WHERE blob_id = ?';

/** Bytes; smaller values are stored whole: a splice of one would not be shorter than its row. */
const MIN_SPLICED_SIZE = 512;

/** Bytes a row takes in the file besides its value; counted so that tiny edits do not make endless chains. */
const ROW_BYTES = 96;

/** Ids of values that are remembered: a result is stored again as a write, a channel and a field of the journal. */
const REMEMBERED_IDS = 256;

/** Rows of `state_blobs` that a connection has put or found. */
interface KnownBlobs {
  /** By their SHA-256, in hex. */
  readonly ids: RecentMap<string, number>;
  /** Of the newest row; `null` where that is not known. */
  readonly newest: number | null;
}

const knownBlobs = new WeakMap<Database, TableKnowledge<KnownBlobs>>();

/** One per connection: the journal and the saver store the same values, one after the other. */
const caches = new WeakMap<Database, ValueCache>();

/**
 * Content-addressed bytes in `state_blobs`: equal bytes are one row.
 *
 * - B1 A value that resembles its base is a splice: kept prefix, new middle, kept suffix.
 * - B2 A value is stored whole when the splices since the last whole one have grown to that one's size. So a chain costs
 *   at most what its last whole value costs, to store and to read, and growth is linear in what changed.
 * - B3 A base is older than its splices and cannot be deleted before them.
 * - B4 A value is used only if the SHA-256 of all its bytes is the stored one. One that is in memory was proved before,
 *   and is used while its row is still the same.
 * - B5 A row is used only under the id that it was written with: others refer to it by that alone.
 *
 * Opens no transaction of its own: `put` belongs into the transaction of the row that refers to the blob.
 */
export class BlobStore {
  readonly #cache: ValueCache;
  readonly #known: TableKnowledge<KnownBlobs>;
  /** Whether values are compressed by who keeps the file. */
  readonly #isLeft: boolean;
  readonly #insert: Statement<[BlobRow]>;
  readonly #selectNextId: Statement<[], number>;
  readonly #selectId: Statement<[Uint8Array], number>;
  readonly #selectHead: Statement<[number], BlobHead>;
  readonly #selectRow: Statement<[number], BlobRow>;
  readonly #selectSame: Statement<[Uint8Array, number], 0 | 1>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, cache: ValueCache = cacheOf(db)) {
    this.#cache = cache;
    this.#known = knownBlobs.get(db) ?? new TableKnowledge(db, ['state_blobs']);
    knownBlobs.set(db, this.#known);
    this.#isLeft = isWorkingCopy(db);
    this.#insert = prepare(db, INSERT);
    this.#selectNextId = prepare<[], number>(db, SELECT_NEXT_ID).pluck();
    this.#selectId = prepare<[Uint8Array], number>(db, SELECT_ID).pluck();
    this.#selectHead = prepare(db, SELECT_HEAD);
    this.#selectRow = prepare(db, SELECT_ROW);
    this.#selectSame = prepare<[Uint8Array, number], 0 | 1>(db, SELECT_SAME).pluck();
  }

  /**
   * Stores bytes unless the file has them already.
   *
   * @param bytes - Kept in memory for the next splice: do not change them afterwards.
   * @returns The id of their row.
   * @throws DevsError `STATE_CORRUPT` if the base is damaged.
   */
  put(bytes: Uint8Array, { base = null, sha256 = hashBytes(bytes) }: PutOptions = {}): number {
    const { ids, newest } = this.#known.get() ?? {
      ids: new RecentMap<string, number>(REMEMBERED_IDS),
      newest: null,
    };
    const hex = Buffer.from(sha256).toString('hex');
    const known = ids.get(hex) ?? this.find(sha256);
    if (known !== null) {
      ids.set(hex, known);
      this.#known.set({ ids, newest });
      return known;
    }
    const stored = (base === null ? null : this.#splice(bytes, sha256, base)) ?? this.#full(bytes, sha256);
    const blobId = newest === null ? (this.#selectNextId.get() ?? 1) : newest + 1;
    this.#insert.run({ blobId, sha256, ...stored, seal: blobSeal(blobId, sha256) });
    ids.set(hex, blobId);
    this.#known.set({ ids, newest: blobId });
    return blobId;
  }

  /** The row of the bytes with this hash; `null` if the file does not have them. */
  find(sha256: Uint8Array): number | null {
    return this.#selectId.get(sha256) ?? null;
  }

  /**
   * @returns The bytes; do not change them.
   * @throws DevsError `STATE_CORRUPT` if there is no such blob, or its bytes are not those that were stored.
   */
  get(blobId: number): Uint8Array {
    return this.load(blobId).bytes;
  }

  /** {@link get}, with the SHA-256 of the bytes. */
  load(blobId: number): { readonly bytes: Uint8Array; readonly sha256: Uint8Array } {
    const head = this.#require(this.#selectHead, blobId);
    return { bytes: this.#valueOf(head).bytes, sha256: head.sha256 };
  }

  /**
   * @param sha256 - The 32 bytes of the hash.
   * @returns The bytes, which are not to be changed; `null` if the file does not have them.
   * @throws DevsError `STATE_CORRUPT` if they are not those that were stored.
   */
  getByHash(sha256: Uint8Array): Uint8Array | null {
    const found = this.find(sha256);
    return found === null ? null : this.get(found);
  }

  /** How to store a value as a splice of its base; `null` where a full value is due, or shorter. */
  #splice(bytes: Uint8Array, sha256: Uint8Array, baseId: number): StoredValue | null {
    if (bytes.byteLength < MIN_SPLICED_SIZE) return null;
    const head = this.#selectHead.get(baseId);
    if (head === undefined) return null;
    const base = this.#valueOf(head);
    const { prefix, suffix } = commonEnds(base.bytes, bytes);
    const middle = bytes.subarray(prefix, bytes.byteLength - suffix);
    if (middle.byteLength > bytes.byteLength / 2) return null;
    const stored = { size: bytes.byteLength, baseId, prefix, suffix, ...compress(middle, this.#isLeft) };
    const chainBytes = base.chainBytes + spliceCost(stored);
    if (chainBytes > base.fullSize) return null;
    this.#cache.delete(head.sha256);
    this.#cache.set(sha256, { bytes, stored, fullSize: base.fullSize, chainBytes });
    return stored;
  }

  #full(bytes: Uint8Array, sha256: Uint8Array): StoredValue {
    const size = bytes.byteLength;
    const stored = { size, baseId: null, prefix: null, suffix: null, ...compress(bytes, this.#isLeft) };
    if (size >= MIN_SPLICED_SIZE) this.#cache.set(sha256, { bytes, stored, fullSize: size, chainBytes: 0 });
    return stored;
  }

  #valueOf(head: BlobHead): CachedValue {
    const known = this.#cached(head);
    if (known !== null) return known;
    const row = this.#require(this.#selectRow, head.blobId);
    const { splices, base } = this.#chainOf(row);
    const bytes = assembled(row, splices, base);
    if (!equalBytes(hashBytes(bytes), row.sha256))
      throw blobCorrupt(row.blobId, 'does not match its SHA-256');
    const chainBytes = splices.reduce((sum, splice) => sum + spliceCost(splice), base.chainBytes);
    const value = { bytes, stored: row, fullSize: base.fullSize, chainBytes };
    if (row.size >= MIN_SPLICED_SIZE) this.#cache.set(row.sha256, value);
    return value;
  }

  /** The value of a row, if it is in memory and the row is what it was then. */
  #cached({ blobId, ...head }: BlobHead): CachedValue | null {
    const value = this.#cache.get(head.sha256);
    if (value === undefined) return null;
    const { stored } = value;
    const same =
      stored.size === head.size && stored.encoding === head.encoding && stored.baseId === head.baseId;
    if (!same || stored.prefix !== head.prefix || stored.suffix !== head.suffix) return null;
    return this.#selectSame.get(stored.bytes, blobId) === 1 ? value : null;
  }

  /** From a row down to a value that is known, or stored whole. */
  #chainOf(row: BlobRow): { readonly splices: readonly BlobRow[]; readonly base: CachedValue } {
    const splices: BlobRow[] = [];
    let link = row;
    while (link.baseId !== null) {
      // A row is newer than its base (B3); anything else is damage, and could be a circle.
      if (link.baseId >= link.blobId) throw blobCorrupt(row.blobId, 'depends on a newer one');
      splices.push(link);
      link = this.#require(this.#selectRow, link.baseId);
      const known = this.#cached(link);
      if (known !== null) return { splices, base: known };
    }
    return { splices, base: wholeValue(row, link) };
  }

  #require<Row extends BlobHead>(select: Statement<[number], Row>, blobId: number): Row {
    const row = select.get(blobId);
    if (row === undefined) throw blobCorrupt(blobId, 'is missing');
    if (row.seal !== null && row.seal !== blobSeal(blobId, row.sha256))
      throw blobCorrupt(blobId, 'was replaced');
    return row;
  }
}

/** SHA-256, as the 32 bytes that the tables hold. */
export function hashBytes(...parts: readonly [Uint8Array, ...Uint8Array[]]): Uint8Array {
  if (parts.length === 1) return hash('sha256', parts[0], 'buffer');
  const whole = createHash('sha256');
  for (const part of parts) whole.update(part);
  return whole.digest();
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** The driver and zlib give Buffers; a value comes back as what LangGraph put: a plain Uint8Array. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Binds a row to its id: six bytes of its SHA-256 as a number, and the id. */
function blobSeal(blobId: number, sha256: Uint8Array): number {
  return sha256.subarray(0, 6).reduce((number, byte) => number * 256 + byte, 0) + blobId;
}

function cacheOf(db: Database): ValueCache {
  const cache = caches.get(db) ?? new ValueCache();
  caches.set(db, cache);
  return cache;
}

/** Bytes a splice takes in the file. */
function spliceCost({ bytes }: StoredValue): number {
  return bytes.byteLength + ROW_BYTES;
}

/** @param row - The value that is asked for, for messages. */
function wholeValue(row: BlobRow, full: BlobRow): CachedValue {
  try {
    const bytes = plainBytes(decompress(full, full.size));
    return { bytes, stored: full, fullSize: full.size, chainBytes: 0 };
  } catch (error) {
    throw blobCorrupt(row.blobId, 'cannot be decompressed', error);
  }
}

function assembled(row: BlobRow, splices: readonly BlobRow[], base: CachedValue): Uint8Array {
  if (splices.length === 0) return base.bytes;
  try {
    return assembleValue(splices.map(toPart), { size: base.stored.size, bytes: base.bytes });
  } catch (error) {
    throw blobCorrupt(row.blobId, 'cannot be assembled', error);
  }
}

function toPart(row: BlobRow): SplicePart {
  const { size, prefix, suffix } = row;
  return { size, prefix: prefix ?? 0, suffix: suffix ?? 0, bytes: decompress(row, size) };
}

function blobCorrupt(blobId: number, what: string, cause?: unknown): DevsError {
  return new DevsError(`Blob ${blobId} of the state file ${what}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { blobId },
    cause,
  });
}
