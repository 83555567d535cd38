import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { DevsError } from '../errors/DevsError.ts';
import { BlobStore, equalBytes, hashBytes, type PutOptions, plainBytes } from './BlobStore.ts';
import { BlobSweeper } from './blobs/BlobSweeper.ts';
import { ChannelHeads } from './blobs/ChannelHeads.ts';
import type {
  CallRecord,
  ChannelKey,
  ChannelRecord,
  CheckpointKey,
  CheckpointQuery,
  CheckpointRecord,
  NamespaceKey,
  StoredCheckpoint,
  TypedBytes,
  WriteRecord,
} from './checkpointRecords.ts';
import * as sql from './graphCheckpointSql.ts';

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
 * against the SHA-256 stored with it and refused with `STATE_CORRUPT` where it differs.
 */
export class GraphCheckpointStore {
  readonly #db: Database;
  readonly #blobs: BlobStore;
  readonly #heads: ChannelHeads;
  readonly #upsertCheckpoint: Statement<[sql.CheckpointRow]>;
  readonly #selectCheckpoint: Statement<[CheckpointKey], sql.StoredCheckpointRow>;
  readonly #selectLatest: Statement<[NamespaceKey], sql.StoredCheckpointRow>;
  readonly #selectSeq: Statement<
    [Pick<CheckpointQuery, 'threadId' | 'checkpointId'>],
    { readonly seq: number | null }
  >;
  readonly #selectNamespaces: Statement<
    [NamespaceKey],
    { readonly checkpointNs: string; readonly seq: number }
  >;
  readonly #insertChannel: Statement<[sql.ChannelRow]>;
  readonly #selectChannel: Statement<[NamespaceKey & ChannelKey], sql.StoredChannel>;
  readonly #selectSize: Statement<[NamespaceKey & ChannelKey], { readonly size: number | null }>;
  readonly #insertWrite: Statement<[sql.WriteRow]>;
  readonly #upsertWrite: Statement<[sql.WriteRow]>;
  readonly #selectWrites: Statement<[CheckpointKey], sql.StoredWriteRow>;
  readonly #selectCalls: Statement<[string], CallRecord>;
  readonly #sweeper: BlobSweeper;
  readonly #selectBlobs: Statement<[{ readonly threadId: string }], number>;
  readonly #deletes: readonly Statement<[string]>[];

  /** @param db - An open, migrated state file. Statements are prepared here, once. */
  constructor(db: Database, blobs: BlobStore = new BlobStore(db)) {
    this.#db = db;
    this.#blobs = blobs;
    this.#upsertCheckpoint = prepare(db, sql.UPSERT_CHECKPOINT);
    this.#selectCheckpoint = prepare(db, sql.SELECT_CHECKPOINT);
    this.#selectLatest = prepare(db, sql.SELECT_LATEST);
    this.#selectSeq = prepare(db, sql.SELECT_SEQ);
    this.#selectNamespaces = prepare(db, sql.SELECT_NAMESPACES_WITHIN);
    this.#insertChannel = prepare(db, sql.INSERT_CHANNEL);
    this.#selectChannel = prepare(db, sql.SELECT_CHANNEL);
    this.#selectSize = prepare(db, sql.SELECT_CHANNEL_SIZE);
    const heads = prepare<[NamespaceKey], [channel: string, blobId: number]>(
      db,
      sql.SELECT_CHANNEL_HEADS,
    ).raw();
    this.#heads = new ChannelHeads(({ threadId, checkpointNs }) => heads.all({ threadId, checkpointNs }));
    this.#insertWrite = prepare(db, sql.INSERT_WRITE);
    this.#upsertWrite = prepare(db, sql.UPSERT_WRITE);
    this.#selectWrites = prepare(db, sql.SELECT_WRITES);
    this.#selectCalls = prepare(db, sql.SELECT_CALLS);
    this.#sweeper = new BlobSweeper(db);
    this.#selectBlobs = prepare<[{ readonly threadId: string }], number>(
      db,
      sql.SELECT_BLOBS_OF_THREAD,
    ).pluck();
    this.#deletes = sql.DELETE_THREAD.map((text) => prepare<[string]>(db, text));
  }

  /** Inserts a checkpoint, or replaces the content of its row; the row keeps its place in the order. */
  saveCheckpoint({ checkpoint, metadata, ...key }: CheckpointRecord): void {
    this.#upsertCheckpoint.run({
      ...key,
      type: checkpoint.type,
      checkpoint: checkpoint.bytes,
      metadataType: metadata.type,
      metadata: metadata.bytes,
      sha256: hashBytes(checkpoint.bytes, metadata.bytes),
    });
  }

  /**
   * Stores the value of a channel at a version; the same value again changes nothing.
   *
   * @throws DevsError `VALUE_NOT_STORABLE` if the version holds another value: older checkpoints refer to it.
   */
  saveChannel(key: NamespaceKey, { value, ...channel }: ChannelRecord): void {
    const stored = value === null ? NOTHING : this.#placeChannel(key, channel.channel, value);
    const row = { threadId: key.threadId, checkpointNs: key.checkpointNs, ...channel, ...stored };
    if (this.#insertChannel.run(row).changes === 0 && !isSame(this.#selectChannel.get(row), stored)) {
      throw versionTaken(row);
    }
    const { versions, blobs } = this.#heads.of(key);
    versions.set(channel.channel, { version: channel.version, size: value?.bytes.byteLength ?? 0 });
    if (stored.blobId !== null) blobs.set(channel.channel, stored.blobId);
  }

  /** Bytes of the values of channels at their versions; an empty channel has none, nor one that was never stored. */
  sizeOfChannels(
    { threadId, checkpointNs }: NamespaceKey,
    versions: Readonly<Record<string, string | number>>,
  ): number {
    const heads = this.#heads.of({ threadId, checkpointNs }).versions;
    return Object.entries(versions).reduce((sum, [channel, at]) => {
      const version = String(at);
      const head = heads.get(channel);
      if (head?.version === version) return sum + head.size;
      return sum + (this.#selectSize.get({ threadId, checkpointNs, channel, version })?.size ?? 0);
    }, 0);
  }

  /** Stores the writes of a task. A regular write that is there already stays; LangGraph's own are replaced. */
  saveWrites(key: CheckpointKey, writes: readonly WriteRecord[]): void {
    for (const { value, ...write } of writes) {
      const { threadId, checkpointNs, checkpointId } = key;
      const sha256 = hashBytes(value.bytes);
      const inline = value.bytes.byteLength <= INLINE_WRITE_BYTES;
      const row = {
        ...{ threadId, checkpointNs, checkpointId },
        ...write,
        type: value.type,
        value: inline ? value.bytes : null,
        blobId: inline ? null : this.#putWrite(key, write.channel, { bytes: value.bytes, sha256 }),
        sha256,
      };
      (write.idx < 0 ? this.#upsertWrite : this.#insertWrite).run(row);
    }
  }

  /** Which tasks of a run's own graph have called which nodes. */
  callsOf(threadId: string): readonly CallRecord[] {
    return this.#selectCalls.all(threadId);
  }

  load(key: CheckpointKey): StoredCheckpoint | null {
    const row = this.#selectCheckpoint.get(key);
    return row === undefined ? null : toCheckpoint(row);
  }

  /** The checkpoint of a namespace that was inserted last. */
  loadLatest(key: NamespaceKey): StoredCheckpoint | null {
    const row = this.#selectLatest.get(key);
    return row === undefined ? null : toCheckpoint(row);
  }

  /** Up to `limit` checkpoints, newest first. */
  loadPage(query: CheckpointQuery, limit: number): readonly StoredCheckpoint[] {
    const page = prepare<[object], sql.StoredCheckpointRow>(this.#db, sql.selectPage(query));
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
  has({ threadId, checkpointNs, checkpointId, seq }: StoredCheckpoint): boolean {
    return this.#selectCheckpoint.get({ threadId, checkpointNs, checkpointId })?.seq === seq;
  }

  /** @returns `undefined` when the version was never stored, `null` when the channel is empty at it. */
  loadChannel(key: NamespaceKey, channel: ChannelKey): TypedBytes | null | undefined {
    const row = this.#selectChannel.get({ ...key, ...channel });
    if (row === undefined) return undefined;
    const { type, value, sha256, blobId } = row;
    if (blobId !== null) return { type, bytes: this.#blobs.get(blobId) };
    if (value === null || sha256 === null) return null;
    if (!equalBytes(hashBytes(value), sha256)) throw damagedChannel(key, channel);
    return { type, bytes: plainBytes(value) };
  }

  /** In no particular order. */
  loadWrites(key: CheckpointKey): readonly WriteRecord[] {
    return this.#selectWrites.all(key).map((row) => this.#toWrite(key, row));
  }

  /** Deletes a thread's rows in every namespace, and the values that nothing else refers to. */
  deleteThread(threadId: string): void {
    const blobIds = this.#selectBlobs.all({ threadId });
    for (const statement of this.#deletes) statement.run(threadId);
    this.#sweeper.sweep(blobIds);
  }

  #placeChannel(key: NamespaceKey, channel: string, { type, bytes }: TypedBytes): sql.StoredChannel {
    if (bytes.byteLength > INLINE_CHANNEL_BYTES) {
      return { type, value: null, sha256: null, blobId: this.#blobs.put(bytes, this.#baseOf(key, channel)) };
    }
    return { type, value: bytes, sha256: hashBytes(bytes), blobId: null };
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

  #toWrite(key: CheckpointKey, { type, value, blobId, sha256, ...write }: sql.StoredWriteRow): WriteRecord {
    const bytes = blobId === null ? (value ?? new Uint8Array()) : this.#blobs.get(blobId);
    if (!equalBytes(hashBytes(bytes), sha256)) throw corrupt(key, `write ${write.taskId}/${write.idx}`);
    return { ...write, value: { type, bytes: plainBytes(bytes) } };
  }
}

function toCheckpoint(row: sql.StoredCheckpointRow): StoredCheckpoint {
  const { type, checkpoint, metadataType, metadata, sha256, ...rest } = row;
  if (!equalBytes(hashBytes(checkpoint, metadata), sha256)) throw corrupt(rest, 'its row');
  return {
    ...rest,
    checkpoint: { type, bytes: plainBytes(checkpoint) },
    metadata: { type: metadataType, bytes: plainBytes(metadata) },
  };
}

function corrupt({ threadId, checkpointId }: CheckpointKey, what: string): DevsError {
  return new DevsError(`Checkpoint ${checkpointId} is damaged: ${what} does not match its SHA-256.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { threadId, checkpointId },
  });
}

function damagedChannel({ threadId }: NamespaceKey, { channel, version }: ChannelKey): DevsError {
  return new DevsError(
    `Channel "${channel}" is damaged: at version ${version} it does not match its SHA-256.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
      context: { threadId, channel, version },
    },
  );
}

function isSame(a: sql.StoredChannel | undefined, b: sql.StoredChannel): boolean {
  if (a === undefined || a.type !== b.type || a.blobId !== b.blobId) return false;
  return a.sha256 === null || b.sha256 === null ? a.sha256 === b.sha256 : equalBytes(a.sha256, b.sha256);
}

function versionTaken({ threadId, channel, version }: sql.ChannelRow): DevsError {
  return new DevsError(`Channel "${channel}" already has another value at version ${version}.`, {
    code: 'VALUE_NOT_STORABLE',
    remedy: 'Give a changed value a new version: use the getNextVersion of the saver that stores it.',
    context: { threadId, channel, version },
  });
}
