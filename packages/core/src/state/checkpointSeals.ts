import { equalBytes, hashBytes } from './BlobStore.ts';
import type { ChannelKey, CheckpointKey, OrderedCheckpoint, WriteRecord } from './checkpointRecords.ts';
import type { CheckpointRow } from './graphCheckpointSql.ts';
import { hashOfRow } from './rowSeals.ts';

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
