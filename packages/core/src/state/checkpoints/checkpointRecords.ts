// Records of checkpoints. The rows of `checkpoints`, `checkpoint_writes` and `checkpoint_blobs`: their statements, the SHA-256 that binds each to
// its key, and the errors for damaged ones.

import { DevsError } from '../../errors/DevsError.ts';
import { equalBytes, hashBytes } from '../blobs/BlobStore.ts';
import { hashOfRow } from '../rows/rows.ts';

/** Bytes and the name of the serialization that made them. */
export interface TypedBytes {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface NamespaceKey {
  readonly threadId: string;
  readonly checkpointNs: string;
}

export interface CheckpointKey extends NamespaceKey {
  readonly checkpointId: string;
}

/** A checkpoint without the channel values that are kept by version. */
export interface CheckpointRecord extends CheckpointKey {
  readonly parentId: string | null;
  readonly checkpoint: TypedBytes;
  readonly metadata: TypedBytes;
}

/** Insertion order is the order in time; ids are not, because clocks step back. */
export interface OrderedCheckpoint extends CheckpointRecord {
  readonly seq: number;
  /** Of the row and of its channels; `null` in rows of before, which have none. */
  readonly rowSha256: Uint8Array | null;
}

/** A channel at a version. */
export interface ChannelKey {
  readonly channel: string;
  readonly version: string;
}

/**
 * The channels of a checkpoint whose values are not in it.
 *
 * @param versions - Of all its channels.
 * @param inside - The values that are in it.
 */
export function channelsApart(
  versions: Readonly<Record<string, string | number>>,
  inside: Readonly<Record<string, unknown>>,
): readonly ChannelKey[] {
  return Object.entries(versions)
    .filter(([channel]) => !Object.hasOwn(inside, channel))
    .map(([channel, version]) => ({ channel, version: String(version) }));
}

/** The value of a channel at a version; `null` when the channel is empty at it. */
export interface ChannelRecord extends ChannelKey {
  readonly value: TypedBytes | null;
}

export interface WriteRecord {
  readonly taskId: string;
  /** Negative for LangGraph's own channels, of which a task has one each. */
  readonly idx: number;
  readonly taskPath: string;
  readonly channel: string;
  readonly value: TypedBytes;
}

/** How often tasks of a path wrote to a channel that calls a node. */
export interface CallRecord {
  readonly taskPath: string;
  readonly channel: string;
  readonly times: number;
}

/** Which checkpoints to list; `null` means any. */
export interface CheckpointQuery {
  readonly threadId: string | null;
  readonly checkpointNs: string | null;
  readonly checkpointId: string | null;
  /** Only checkpoints inserted before this one. */
  readonly beforeSeq: number | null;
  /** Only ids that sort before this one; for a bound that is not in the file. */
  readonly beforeId: string | null;
}

export interface CheckpointRow {
  readonly threadId: string;
  readonly checkpointNs: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly checkpoint: Uint8Array;
  readonly metadataType: string;
  readonly metadata: Uint8Array;
  readonly sha256: Uint8Array;
  /** As of `checkpointSeal`; `null` in rows of before. */
  readonly rowSha256: Uint8Array | null;
  readonly seq: number;
}

/** A value lies in its row, in a blob, or, of an empty channel, nowhere. */
export interface StoredChannel {
  readonly type: string;
  readonly value: Uint8Array | null;
  /** Of `value`; a blob has its own. */
  readonly sha256: Uint8Array | null;
  readonly blobId: number | null;
}

export interface ChannelRow extends StoredChannel {
  readonly threadId: string;
  readonly checkpointNs: string;
  readonly channel: string;
  readonly version: string;
}

export interface StoredWriteRow {
  readonly taskId: string;
  readonly idx: number;
  readonly taskPath: string;
  readonly channel: string;
  readonly type: string;
  readonly value: Uint8Array | null;
  readonly blobId: number | null;
  readonly sha256: Uint8Array;
  /** 0 in rows of before: `sha256` is then of the bytes alone. */
  readonly sealed: 0 | 1;
}

export interface WriteRow extends StoredWriteRow {
  readonly threadId: string;
  readonly checkpointNs: string;
  readonly checkpointId: string;
}

const CHECKPOINT_COLUMNS = `
  seq, thread_id AS threadId, checkpoint_ns AS checkpointNs, checkpoint_id AS checkpointId,
  parent_checkpoint_id AS parentId, type, checkpoint, metadata_type AS metadataType, metadata, sha256,
  row_sha256 AS rowSha256`;

const THIS_CHECKPOINT =
  'thread_id = @threadId AND checkpoint_ns = @checkpointNs AND checkpoint_id = @checkpointId';

/** Places in the order of checkpoints. */
export interface CheckpointPlace {
  /** Of its row; `null` without one. */
  readonly own: number | null;
  /** Of the last one; 0 without any. */
  readonly newest: number;
}

export const FIRST_PLACE: CheckpointPlace = { own: null, newest: 0 };

export const SELECT_PLACE = `
  SELECT (SELECT seq FROM checkpoints WHERE ${THIS_CHECKPOINT}) AS own,
         (SELECT coalesce(max(seq), 0) FROM checkpoints) AS newest`;

// An upsert, because INSERT OR REPLACE would give an old row the newest seq. What was written on top of it may be there
// before it.
const NEW_CHECKPOINT = `
  INSERT INTO checkpoints
    (seq, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata_type, metadata, sha256,
     row_sha256, writes)
  VALUES
    (@seq, @threadId, @checkpointNs, @checkpointId, @parentId, @type, @checkpoint, @metadataType, @metadata, @sha256,
     @rowSha256, (SELECT count(*) FROM checkpoint_writes WHERE ${THIS_CHECKPOINT}))`;

/** Inserts a row unless its key or its place is taken. */
export const INSERT_CHECKPOINT = `${NEW_CHECKPOINT} ON CONFLICT DO NOTHING`;

export const UPSERT_CHECKPOINT = `${NEW_CHECKPOINT}
  ON CONFLICT DO UPDATE SET
    parent_checkpoint_id = excluded.parent_checkpoint_id, type = excluded.type, checkpoint = excluded.checkpoint,
    metadata_type = excluded.metadata_type, metadata = excluded.metadata, sha256 = excluded.sha256,
    row_sha256 = excluded.row_sha256`;

export const COUNT_WRITES = `UPDATE checkpoints SET writes = writes + @added WHERE ${THIS_CHECKPOINT}`;

export const SELECT_CHECKPOINT = `
  SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE ${THIS_CHECKPOINT}`;

export const SELECT_LATEST = `
  SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints
  WHERE thread_id = @threadId AND checkpoint_ns = @checkpointNs ORDER BY seq DESC LIMIT 1`;

const PAGE_CONDITIONS = `
  (@checkpointId IS NULL OR checkpoint_id = @checkpointId)
  AND (@beforeSeq IS NULL OR seq < @beforeSeq)
  AND (@beforeId IS NULL OR checkpoint_id < @beforeId)
  ORDER BY seq DESC LIMIT @limit`;

const IN_NAMESPACE = '(@checkpointNs IS NULL OR checkpoint_ns = @checkpointNs)';

const SELECT_PAGE = `
  SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE ${IN_NAMESPACE} AND ${PAGE_CONDITIONS}`;

const SELECT_PAGE_OF_THREAD = `
  SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE thread_id = @threadId AND ${IN_NAMESPACE} AND ${PAGE_CONDITIONS}`;

// In the order of its index: what is not of the page is not read.
const SELECT_PAGE_OF_NAMESPACE = `
  SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints
  WHERE thread_id = @threadId AND checkpoint_ns = @checkpointNs AND ${PAGE_CONDITIONS}`;

export function selectPage({ threadId, checkpointNs }: CheckpointQuery): string {
  if (threadId === null) return SELECT_PAGE;
  return checkpointNs === null ? SELECT_PAGE_OF_THREAD : SELECT_PAGE_OF_NAMESPACE;
}

// '}' is the character after the bar that parts the names of a namespace.
export const SELECT_NAMESPACES_WITHIN = `
  SELECT checkpoint_ns AS checkpointNs, max(seq) AS seq FROM checkpoints
  WHERE thread_id = @threadId
    AND (checkpoint_ns = @checkpointNs
      OR (checkpoint_ns > @checkpointNs || '|' AND checkpoint_ns < @checkpointNs || '}'))
  GROUP BY checkpoint_ns ORDER BY seq`;

// The namespace of a graph that is begun anew with each visit has the visit's id after a colon. Beside `max`, SQLite gives
// the other columns of the row that has it.
export const SELECT_LASTING_BEFORE = `
  SELECT thread_id AS threadId, checkpoint_ns AS checkpointNs, checkpoint_id AS checkpointId, max(seq)
  FROM checkpoints
  WHERE thread_id = @threadId AND seq < @seq AND checkpoint_ns <> '' AND instr(checkpoint_ns, ':') = 0
  GROUP BY checkpoint_ns`;

export const SELECT_SEQ = `
  SELECT max(seq) AS seq FROM checkpoints
  WHERE checkpoint_id = @checkpointId AND (@threadId IS NULL OR thread_id = @threadId)`;

/** Rows that are inserted together, one statement for each number of them. */
export const ROWS_AT_ONCE = 16;

/** How missing rows of a table are inserted. */
export interface Rows<Row> {
  readonly insert: (count: number) => string;
  /** Of each row, in the order of its values. */
  readonly columns: readonly (keyof Row & string)[];
}

const valuesOf = (count: number, columns: readonly unknown[]): string =>
  Array.from({ length: count }, () => `(${columns.map(() => '?').join(', ')})`).join(', ');

const CHANNEL_COLUMNS = [
  ...(['threadId', 'checkpointNs', 'version', 'channel', 'type', 'value', 'sha256', 'blobId'] as const),
];

export const CHANNEL_ROWS: Rows<ChannelRow> = {
  columns: CHANNEL_COLUMNS,
  insert: (count) => `
    INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, version, channel, type, value, sha256, blob_id)
    VALUES ${valuesOf(count, CHANNEL_COLUMNS)} ON CONFLICT DO NOTHING`,
};

export const SELECT_CHANNEL = `
  SELECT type, value, sha256, blob_id AS blobId FROM checkpoint_blobs
  WHERE thread_id = @threadId AND checkpoint_ns = @checkpointNs AND version = @version AND channel = @channel`;

export const SELECT_CHANNEL_DIGEST = `
  SELECT c.type, coalesce(length(c.value), b.size, 0) AS size, coalesce(c.sha256, b.sha256) AS sha256
  FROM checkpoint_blobs AS c LEFT JOIN state_blobs AS b ON b.blob_id = c.blob_id
  WHERE c.thread_id = @threadId AND c.checkpoint_ns = @checkpointNs AND c.version = @version AND c.channel = @channel`;

// Versions sort as text, not by age; blob ids grow.
export const SELECT_CHANNEL_HEADS = `
  SELECT channel, max(blob_id) FROM checkpoint_blobs
  WHERE thread_id = @threadId AND checkpoint_ns = @checkpointNs AND blob_id IS NOT NULL GROUP BY channel`;

const WRITE_COLUMNS = [
  ...(['threadId', 'checkpointNs', 'checkpointId', 'taskId', 'idx', 'taskPath'] as const),
  ...(['channel', 'type', 'value', 'blobId', 'sha256', 'sealed'] as const),
];

export const WRITE_ROWS: Rows<WriteRow> = {
  columns: WRITE_COLUMNS,
  insert: (count) => `
    INSERT INTO checkpoint_writes
      (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type, value, blob_id, sha256, sealed)
    VALUES ${valuesOf(count, WRITE_COLUMNS)} ON CONFLICT DO NOTHING`,
};

export const DELETE_WRITE = `
  DELETE FROM checkpoint_writes WHERE ${THIS_CHECKPOINT} AND task_id = @taskId AND idx = @idx`;

export const SELECT_WRITES = `
  SELECT task_id AS taskId, idx, task_path AS taskPath, channel, type, value, blob_id AS blobId, sha256, sealed
  FROM checkpoint_writes WHERE ${THIS_CHECKPOINT}`;

/** How many there have to be; NULL where that is not known. */
export const SELECT_WRITE_COUNT = `SELECT writes FROM checkpoints WHERE ${THIS_CHECKPOINT}`;

/** What a node wrote to call another one; of a task that was sent, the path names no node. */
export const SELECT_CALLS = `
  SELECT task_path AS taskPath, channel, count(*) AS times FROM checkpoint_writes
  WHERE thread_id = ? AND checkpoint_ns = '' AND (channel GLOB 'branch:to:*' OR channel GLOB 'join:*')
  GROUP BY task_path, channel ORDER BY task_path, channel`;

export const SELECT_BLOBS_OF_THREAD = `
  SELECT blob_id FROM checkpoint_blobs WHERE thread_id = @threadId AND blob_id IS NOT NULL
  UNION SELECT blob_id FROM checkpoint_writes WHERE thread_id = @threadId AND blob_id IS NOT NULL`;

export const DELETE_THREAD = [
  'DELETE FROM checkpoints WHERE thread_id = ?',
  'DELETE FROM checkpoint_writes WHERE thread_id = ?',
  'DELETE FROM checkpoint_blobs WHERE thread_id = ?',
] as const;

/** A channel at a version, and what its value is known by. */
export interface SealedChannel extends ChannelKey {
  /** As of {@link channelDigest}. */
  readonly digest: string;
}

/** Its kind, and the SHA-256 of its bytes; an empty channel has none. */
export const channelDigest = (type: string, sha256: Uint8Array | null): string =>
  `${type}:${sha256 === null ? '' : hexOf(sha256)}`;

/**
 * SHA-256 of what a row of `checkpoints` is, and of the rows of `checkpoint_blobs` that it is made of: one that is missing,
 * changed or under another key does not match.
 */
export function checkpointSeal(
  row: Omit<CheckpointRow, 'rowSha256' | 'checkpoint' | 'metadata'>,
  channels: readonly SealedChannel[],
): Uint8Array {
  const { seq, threadId, checkpointNs, checkpointId, parentId, type, metadataType, sha256 } = row;
  const key = [seq, threadId, checkpointNs, checkpointId, parentId, type, metadataType, hexOf(sha256)];
  const sorted = channels.toSorted(byName);
  return hashOfRow([...key, ...sorted.flatMap(({ channel, version, digest }) => [channel, version, digest])]);
}

/** Of a version that was named and not stored: no value of it has been given to anybody who writes this file. */
export const NEVER_STORED = 'never stored';

/** Whether a checkpoint is what it was written as, of these channels; also where it has no sum. */
export function isSealed(stored: OrderedCheckpoint, channels: readonly SealedChannel[]): boolean {
  const { checkpoint, metadata, rowSha256, ...row } = stored;
  if (rowSha256 === null) return true;
  const sha256 = hashBytes(checkpoint.bytes, metadata.bytes);
  const kinds = { type: checkpoint.type, metadataType: metadata.type };
  return equalBytes(checkpointSeal({ ...row, ...kinds, sha256 }, channels), rowSha256);
}

/** SHA-256 of a row of `checkpoint_writes`. @param sha256 - Of its bytes, wherever they are. */
export function writeSeal(
  { threadId, checkpointNs, checkpointId }: CheckpointKey,
  write: Omit<WriteRecord, 'value'> & { readonly type: string },
  sha256: Uint8Array,
): Uint8Array {
  const { taskId, idx, taskPath, channel, type } = write;
  const key = [threadId, checkpointNs, checkpointId, taskId, idx];
  return hashOfRow([...key, taskPath, channel, type, hexOf(sha256)]);
}

function byName({ channel: left }: ChannelKey, { channel: right }: ChannelKey): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

// What is wrong with a checkpoint, with what it is made of, or with what is to become of it.

export function damagedCheckpoint({ threadId, checkpointId }: CheckpointKey, what: string): DevsError {
  return new DevsError(`Checkpoint ${checkpointId} is damaged: ${what} does not match its SHA-256.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { threadId, checkpointId },
  });
}

export function missingChannel(
  { threadId, checkpointId }: CheckpointKey,
  { channel, version }: ChannelKey,
): DevsError {
  return new DevsError(
    `Checkpoint ${checkpointId} is damaged: channel "${channel}" is missing at its version ${version}.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
      context: { threadId, checkpointId, channel, version },
    },
  );
}

export function missingWrites(
  { threadId, checkpointId }: CheckpointKey,
  found: number,
  expected: number,
): DevsError {
  return new DevsError(
    `Checkpoint ${checkpointId} is damaged: only ${found} of ${expected} pending writes are present.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
      context: { threadId, checkpointId },
    },
  );
}

export function damagedChannel({ threadId }: NamespaceKey, { channel, version }: ChannelKey): DevsError {
  return new DevsError(
    `Channel "${channel}" is damaged: at version ${version} it does not match its SHA-256.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
      context: { threadId, channel, version },
    },
  );
}

export function versionTaken({ threadId, channel, version }: ChannelRow): DevsError {
  return new DevsError(`Channel "${channel}" already has another value at version ${version}.`, {
    code: 'VALUE_NOT_STORABLE',
    remedy: 'Use a new version for a changed value, from getNextVersion of the saver that stores it.',
    context: { threadId, channel, version },
  });
}
