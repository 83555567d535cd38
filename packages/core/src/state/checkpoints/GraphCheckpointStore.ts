import type { Database, Statement } from 'better-sqlite3';
import { TableKnowledge } from '../../db/keptReads.ts';
import { prepare, transaction } from '../../db/prepare.ts';
import { BlobStore, equalBytes, hashBytes, type PutOptions, plainBytes } from '../blobs/BlobStore.ts';
import { BlobSweeper } from '../blobs/BlobSweeper.ts';
import { type ChannelHead, ChannelHeads } from './ChannelHeads.ts';
import * as sql from './checkpointRecords.ts';
import {
  type CallRecord,
  type ChannelKey,
  type ChannelRecord,
  type CheckpointKey,
  type CheckpointQuery,
  type CheckpointRecord,
  channelDigest,
  checkpointSeal,
  damagedChannel,
  damagedCheckpoint,
  isSealed,
  missingChannel,
  missingWrites,
  type NamespaceKey,
  NEVER_STORED,
  type OrderedCheckpoint,
  type TypedBytes,
  versionTaken,
  type WriteRecord,
  writeSeal,
} from './checkpointRecords.ts';

/** Pending writes above this many bytes go to `state_blobs`, where the channel value they become is the same row. */
const INLINE_WRITE_BYTES = 256;

/** A channel's value above this many bytes goes there too; up to it, the reference and its index would take as much. */
const INLINE_CHANNEL_BYTES = 64;

/** An empty channel. */
const NOTHING: sql.StoredChannel = { type: 'empty', value: null, sha256: null, blobId: null };

/**
 * LangGraph's resume data: `checkpoints`, `checkpoint_writes` and `checkpoint_blobs`. The Thought/Action journal is
 * another table; see `CheckpointPersister`.
 *
 * Bytes in, bytes out; what they mean is the saver's. Opens no transaction of its own. Everything read is checked
 * against the SHA-256 stored with it and refused with `STATE_CORRUPT` where it differs; so is what is read of a checkpoint
 * of which a row is missing, or lies under another key.
 */
export class GraphCheckpointStore {
  readonly #db: Database;
  readonly #blobs: BlobStore;
  readonly #heads: ChannelHeads;
  readonly #selectPlace: Statement<[CheckpointKey], sql.CheckpointPlace>;
  /** The last place in the order. */
  readonly #lastSeq: TableKnowledge<number>;
  readonly #insertCheckpoint: Statement<[sql.CheckpointRow]>;
  readonly #upsertCheckpoint: Statement<[sql.CheckpointRow]>;
  readonly #selectCheckpoint: Statement<[CheckpointKey], sql.CheckpointRow>;
  readonly #selectLatest: Statement<[NamespaceKey], sql.CheckpointRow>;
  readonly #selectSeq: Statement<
    [Pick<CheckpointQuery, 'threadId' | 'checkpointId'>],
    { readonly seq: number | null }
  >;
  readonly #selectNamespaces: Statement<
    [NamespaceKey],
    { readonly checkpointNs: string; readonly seq: number }
  >;
  readonly #selectChannel: Statement<[NamespaceKey & ChannelKey], sql.StoredChannel>;
  readonly #selectDigest: Statement<[NamespaceKey & ChannelKey], ChannelDigestRow>;
  readonly #deleteWrite: Statement<[sql.WriteRow]>;
  readonly #countWrites: Statement<[CheckpointKey & { readonly added: number }]>;
  readonly #selectWrites: Statement<[CheckpointKey], sql.StoredWriteRow>;
  readonly #selectWriteCount: Statement<[CheckpointKey], number | null>;
  readonly #selectCalls: Statement<[string], CallRecord>;
  readonly #sweeper: BlobSweeper;
  readonly #selectBlobs: Statement<[{ readonly threadId: string }], number>;
  readonly #deletes: readonly Statement<[string]>[];

  /** @param db - An open, migrated state file. Statements are prepared here, once. */
  constructor(db: Database, blobs: BlobStore = new BlobStore(db)) {
    this.#db = db;
    this.#blobs = blobs;
    this.#selectPlace = prepare(db, sql.SELECT_PLACE);
    this.#lastSeq = new TableKnowledge(db, ['checkpoints']);
    this.#insertCheckpoint = prepare(db, sql.INSERT_CHECKPOINT);
    this.#upsertCheckpoint = prepare(db, sql.UPSERT_CHECKPOINT);
    this.#selectCheckpoint = prepare(db, sql.SELECT_CHECKPOINT);
    this.#selectLatest = prepare(db, sql.SELECT_LATEST);
    this.#selectSeq = prepare(db, sql.SELECT_SEQ);
    this.#selectNamespaces = prepare(db, sql.SELECT_NAMESPACES_WITHIN);
    this.#selectChannel = prepare(db, sql.SELECT_CHANNEL);
    this.#selectDigest = prepare(db, sql.SELECT_CHANNEL_DIGEST);
    const heads = prepare<[NamespaceKey], [channel: string, blobId: number]>(
      db,
      sql.SELECT_CHANNEL_HEADS,
    ).raw();
    this.#heads = new ChannelHeads(({ threadId, checkpointNs }) => heads.all({ threadId, checkpointNs }));
    this.#deleteWrite = prepare(db, sql.DELETE_WRITE);
    this.#countWrites = prepare(db, sql.COUNT_WRITES);
    this.#selectWrites = prepare(db, sql.SELECT_WRITES);
    this.#selectWriteCount = prepare<[CheckpointKey], number | null>(db, sql.SELECT_WRITE_COUNT).pluck();
    this.#selectCalls = prepare(db, sql.SELECT_CALLS);
    this.#sweeper = new BlobSweeper(db);
    this.#selectBlobs = prepare<[{ readonly threadId: string }], number>(
      db,
      sql.SELECT_BLOBS_OF_THREAD,
    ).pluck();
    this.#deletes = sql.DELETE_THREAD.map((text) => prepare<[string]>(db, text));
  }

  /**
   * Inserts a checkpoint, or replaces the content of its row; the row keeps its place in the order.
   *
   * @param channels - Those whose values are not in it, already stored at their versions.
   */
  saveCheckpoint(
    { checkpoint, metadata, ...key }: CheckpointRecord,
    channels: readonly ChannelKey[] = [],
  ): void {
    const kinds = { type: checkpoint.type, metadataType: metadata.type };
    const sha256 = hashBytes(checkpoint.bytes, metadata.bytes);
    const sealed = channels.map((at) => ({ ...at, digest: this.#headOf(key, at)?.digest ?? NEVER_STORED }));
    const rowAt = (seq: number): sql.CheckpointRow => {
      const row = { ...key, ...kinds, sha256, seq };
      const bytes = { checkpoint: checkpoint.bytes, metadata: metadata.bytes };
      return { ...row, ...bytes, rowSha256: checkpointSeal(row, sealed) };
    };
    const last = this.#lastSeq.get();
    if (last !== undefined && this.#insertCheckpoint.run(rowAt(last + 1)).changes === 1) {
      this.#lastSeq.set(last + 1);
      return;
    }
    const { threadId, checkpointNs, checkpointId } = key;
    const { own, newest } =
      this.#selectPlace.get({ threadId, checkpointNs, checkpointId }) ?? sql.FIRST_PLACE;
    this.#upsertCheckpoint.run(rowAt(own ?? newest + 1));
    this.#lastSeq.set(own === null ? newest + 1 : newest);
  }

  /**
   * Stores the values of channels at versions; the same value again changes nothing.
   *
   * @throws DevsError `VALUE_NOT_STORABLE` if a version holds another value: older checkpoints refer to it.
   */
  saveChannels(key: NamespaceKey, channels: readonly ChannelRecord[]): void {
    const { threadId, checkpointNs } = key;
    const placed = channels.map(({ value, ...channel }) => {
      const sha256 = value === null ? null : hashBytes(value.bytes);
      const stored =
        value === null || sha256 === null
          ? NOTHING
          : this.#placeChannel(key, channel.channel, { value, sha256 });
      const head = { size: value?.bytes.byteLength ?? 0, digest: channelDigest(stored.type, sha256) };
      return { head, row: { threadId, checkpointNs, ...channel, ...stored } };
    });
    const rows = placed.map(({ row }) => row);
    const wasTaken = this.#insertRows(sql.CHANNEL_ROWS, rows) < rows.length;
    const taken = wasTaken
      ? rows.find((row) => !isSameChannel(this.#selectChannel.get(row), row))
      : undefined;
    if (taken !== undefined) throw versionTaken(taken);
    const { versions, blobs } = this.#heads.of(key);
    for (const { row, head } of placed) {
      versions.set(row.channel, { version: row.version, ...head });
      if (row.blobId !== null) blobs.set(row.channel, row.blobId);
    }
  }

  /** Inserts the missing ones of these rows. @returns Their number. */
  #insertRows<Row extends object>({ insert, columns }: sql.Rows<Row>, rows: readonly Row[]): number {
    let inserted = 0;
    for (let at = 0; at < rows.length; at += sql.ROWS_AT_ONCE) {
      const some = rows.slice(at, at + sql.ROWS_AT_ONCE);
      const values = some.flatMap((row) => columns.map((column) => row[column]));
      inserted += prepare<unknown[]>(this.#db, insert(some.length)).run(...values).changes;
    }
    return inserted;
  }

  /** They are about to be stored, maybe in a later transaction: their sizes are known. */
  expectChannels(key: NamespaceKey, channels: readonly ChannelRecord[]): void {
    const { coming } = this.#heads.of(key);
    for (const { channel, version, value } of channels)
      coming.set(channel, { version, size: value?.bytes.byteLength ?? 0 });
  }

  /** Bytes of the values of channels at their versions; an empty channel has none, nor one that was never stored. */
  sizesOfChannels(
    { threadId, checkpointNs }: NamespaceKey,
    versions: Readonly<Record<string, string | number>>,
  ): readonly (readonly [channel: string, bytes: number])[] {
    const key = { threadId, checkpointNs };
    const { coming } = this.#heads.of(key);
    return Object.entries(versions).map(([channel, given]) => {
      const [version, known] = [String(given), coming.get(channel)];
      const head = known?.version === version ? known : this.#headOf(key, { channel, version });
      return [channel, head?.size ?? 0] as const;
    });
  }

  /** Stores the writes of a task. A regular write that is there already stays; LangGraph's own are replaced. */
  saveWrites(key: CheckpointKey, writes: readonly WriteRecord[]): void {
    const { threadId, checkpointNs, checkpointId } = key;
    const rows = writes.map(({ value, ...write }): sql.WriteRow => {
      const { bytes, type } = value;
      const sha256 = hashBytes(bytes);
      const inline = bytes.byteLength <= INLINE_WRITE_BYTES;
      return {
        ...{ threadId, checkpointNs, checkpointId },
        ...write,
        type,
        value: inline ? bytes : null,
        blobId: inline ? null : this.#putWrite(key, write.channel, { bytes, sha256 }),
        sha256: writeSeal(key, { ...write, type }, sha256),
        sealed: 1,
      };
    });
    const [own, regular] = [rows.filter(({ idx }) => idx < 0), rows.filter(({ idx }) => idx >= 0)];
    let added = this.#insertRows(sql.WRITE_ROWS, regular);
    for (const row of own) {
      added -= this.#deleteWrite.run(row).changes;
      added += this.#insertRows(sql.WRITE_ROWS, [row]);
    }
    const counted = { threadId, checkpointNs, checkpointId, added };
    if (added > 0) this.#lastSeq.keeping(() => this.#countWrites.run(counted));
  }

  /** Which tasks of a run's own graph have called which nodes. */
  callsOf(threadId: string): readonly CallRecord[] {
    return this.#selectCalls.all(threadId);
  }

  load(key: CheckpointKey): OrderedCheckpoint | null {
    const row = this.#selectCheckpoint.get(key);
    return row === undefined ? null : toCheckpoint(row);
  }

  /** The checkpoint of a namespace that was inserted last. */
  loadLatest(key: NamespaceKey): OrderedCheckpoint | null {
    const row = this.#selectLatest.get(key);
    if (row === undefined) this.#heads.begin(key);
    return row === undefined ? null : toCheckpoint(row);
  }

  /** Up to `limit` checkpoints, newest first. */
  loadPage(query: CheckpointQuery, limit: number): readonly OrderedCheckpoint[] {
    const page = prepare<[object], sql.CheckpointRow>(this.#db, sql.selectPage(query));
    return page.all({ ...query, limit }).map(toCheckpoint);
  }

  /** Where a checkpoint stands in the order, by its id alone; `null` if the file does not have it. */
  findSeq(checkpointId: string, threadId: string | null): number | null {
    return this.#selectSeq.get({ checkpointId, threadId })?.seq ?? null;
  }

  /** A namespace and those inside it, with where their newest checkpoint stands in the order; in that order. */
  namespacesWithin({
    threadId,
    checkpointNs,
  }: NamespaceKey): readonly { readonly checkpointNs: string; readonly seq: number }[] {
    return this.#selectNamespaces.all({ threadId, checkpointNs });
  }

  /** The newest checkpoint before `seq` of each graph that keeps its state over the visits of its node. */
  lastingBefore(threadId: string, seq: number): readonly CheckpointKey[] {
    return prepare<[object], CheckpointKey>(this.#db, sql.SELECT_LASTING_BEFORE).all({ threadId, seq });
  }

  /** True while the file has this very checkpoint. */
  has({ threadId, checkpointNs, checkpointId, seq }: OrderedCheckpoint): boolean {
    return this.#selectCheckpoint.get({ threadId, checkpointNs, checkpointId })?.seq === seq;
  }

  /** @returns `undefined` when the version was never stored, `null` when the channel is empty at it. */
  loadChannel(key: NamespaceKey, channel: ChannelKey): TypedBytes | null | undefined {
    return this.#loadDigested(key, channel)?.value;
  }

  #loadDigested(
    { threadId, checkpointNs }: NamespaceKey,
    at: ChannelKey,
  ): { readonly value: TypedBytes | null; readonly digest: string } | undefined {
    const row = this.#selectChannel.get({ threadId, checkpointNs, ...at });
    if (row === undefined) return undefined;
    const { type, value, sha256, blobId } = row;
    if (blobId !== null) {
      const blob = this.#blobs.load(blobId);
      return { value: { type, bytes: blob.bytes }, digest: channelDigest(type, blob.sha256) };
    }
    if (value === null || sha256 === null) return { value: null, digest: channelDigest(type, null) };
    if (!equalBytes(hashBytes(value), sha256)) throw damagedChannel({ threadId, checkpointNs }, at);
    return { value: { type, bytes: plainBytes(value) }, digest: channelDigest(type, sha256) };
  }

  /** What is known of a channel at a version; `undefined` if the file does not have it. */
  #headOf(key: NamespaceKey, { channel, version }: ChannelKey): ChannelHead | undefined {
    const { threadId, checkpointNs } = key;
    const { versions } = this.#heads.of(key);
    const known = versions.get(channel);
    if (known?.version === version) return known;
    const row = this.#selectDigest.get({ threadId, checkpointNs, channel, version });
    if (row === undefined) return undefined;
    const head = { version, size: row.size, digest: channelDigest(row.type, row.sha256) };
    versions.set(channel, head);
    return head;
  }

  /**
   * The values of a checkpoint's channels, in the order given; `null` where one is empty.
   *
   * @param channels - All whose values are not in it.
   * @throws DevsError `STATE_CORRUPT` if one of them is missing, or is not what the checkpoint was written with. One that
   *   was named and never stored is empty, if the checkpoint says so.
   */
  loadChannels(stored: OrderedCheckpoint, channels: readonly ChannelKey[]): readonly (TypedBytes | null)[] {
    const loaded = channels.map((at) => {
      const found = this.#loadDigested(stored, at);
      return { ...at, ...(found ?? { value: null, digest: NEVER_STORED }) };
    });
    const missing = loaded.find(({ digest }) => digest === NEVER_STORED);
    const isSound = isSealed(stored, loaded);
    if (missing !== undefined && (!isSound || stored.rowSha256 === null))
      throw missingChannel(stored, missing);
    if (!isSound) throw damagedCheckpoint(stored, 'what it is made of');
    return loaded.map(({ value }) => value);
  }

  /** In no particular order. @throws DevsError `STATE_CORRUPT` if one is missing, too. */
  loadWrites(key: CheckpointKey): readonly WriteRecord[] {
    return this.#db.inTransaction
      ? this.#loadWrites(key)
      : transaction(this.#db, 'deferred', () => this.#loadWrites(key));
  }

  #loadWrites(key: CheckpointKey): readonly WriteRecord[] {
    const writes = this.#selectWrites.all(key).map((row) => this.#toWrite(key, row));
    const expected = this.#selectWriteCount.get(key) ?? null;
    if (expected !== null && expected !== writes.length) throw missingWrites(key, writes.length, expected);
    return writes;
  }

  /** Deletes a thread's rows in every namespace, and the values that nothing else refers to. */
  deleteThread(threadId: string): void {
    const blobIds = this.#selectBlobs.all({ threadId });
    for (const statement of this.#deletes) statement.run(threadId);
    this.#sweeper.sweep(blobIds);
  }

  #placeChannel(
    key: NamespaceKey,
    channel: string,
    { value: { type, bytes }, sha256 }: { readonly value: TypedBytes; readonly sha256: Uint8Array },
  ): sql.StoredChannel {
    if (bytes.byteLength > INLINE_CHANNEL_BYTES) {
      const blobId = this.#blobs.put(bytes, { ...this.#baseOf(key, channel), sha256 });
      return { type, value: null, sha256: null, blobId };
    }
    return { type, value: bytes, sha256, blobId: null };
  }

  /** A write often is the channel's next value; it is not remembered as such, because it may be a mere addition. */
  #putWrite(
    key: NamespaceKey,
    channel: string,
    { bytes, sha256 }: { readonly bytes: Uint8Array; readonly sha256: Uint8Array },
  ): number {
    return this.#blobs.put(bytes, { ...this.#baseOf(key, channel), sha256 });
  }

  /** The value that the next one of the channel probably resembles. */
  #baseOf(key: NamespaceKey, channel: string): Pick<PutOptions, 'base'> {
    return { base: this.#heads.of(key).blobs.get(channel) ?? null };
  }

  #toWrite(key: CheckpointKey, row: sql.StoredWriteRow): WriteRecord {
    const { taskId, idx, taskPath, channel, type, value, blobId, sha256, sealed } = row;
    const blob = blobId === null ? null : this.#blobs.load(blobId);
    const bytes = blob?.bytes ?? value ?? new Uint8Array();
    const actual = blob?.sha256 ?? hashBytes(bytes);
    const expected = sealed === 1 ? writeSeal(key, row, actual) : actual;
    if (!equalBytes(expected, sha256)) throw damagedCheckpoint(key, `write ${taskId}/${idx}`);
    return { taskId, idx, taskPath, channel, value: { type, bytes: plainBytes(bytes) } };
  }
}

interface ChannelDigestRow {
  readonly type: string;
  readonly size: number;
  readonly sha256: Uint8Array | null;
}

function toCheckpoint(row: sql.CheckpointRow): OrderedCheckpoint {
  const { type, checkpoint, metadataType, metadata, sha256, ...rest } = row;
  if (!equalBytes(hashBytes(checkpoint, metadata), sha256)) throw damagedCheckpoint(rest, 'its row');
  return {
    ...rest,
    checkpoint: { type, bytes: plainBytes(checkpoint) },
    metadata: { type: metadataType, bytes: plainBytes(metadata) },
  };
}

function isSameChannel(a: sql.StoredChannel | undefined, b: sql.StoredChannel): boolean {
  if (a === undefined || a.type !== b.type || a.blobId !== b.blobId) return false;
  return a.sha256 === null || b.sha256 === null ? a.sha256 === b.sha256 : equalBytes(a.sha256, b.sha256);
}
