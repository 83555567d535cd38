import type { Database } from 'better-sqlite3';
import { findingsOrDamage } from '../../db/checkFile.ts';
import { prepare } from '../../db/prepare.ts';
import { equalBytes, hashBytes } from '../blobs/BlobStore.ts';
import {
  type ChannelKey,
  type CheckpointKey,
  channelDigest,
  channelsApart,
  isSealed,
  type NamespaceKey,
  NEVER_STORED,
  type OrderedCheckpoint,
  type WriteRow,
  writeSeal,
} from '../checkpoints/checkpointRecords.ts';
import { GraphCheckpointStore } from '../checkpoints/GraphCheckpointStore.ts';
import { error, note, type ValueFinding } from './finding.ts';

interface DamagedChannelRow extends NamespaceKey, ChannelKey {
  readonly type: string;
  readonly sha256: Uint8Array | null;
}

interface Channel extends ChannelKey {
  readonly digest: string;
  /** Whether a checkpoint is made of it. */
  isNamed: boolean;
}

const SELECT_KEYS = `
  SELECT thread_id AS threadId, checkpoint_ns AS checkpointNs, checkpoint_id AS checkpointId
  FROM checkpoints ORDER BY seq ASC`;

// In the order of the table: those of a namespace follow one another.
const SELECT_CHANNELS = `
  SELECT c.thread_id AS threadId, c.checkpoint_ns AS checkpointNs, c.channel, c.version, c.type,
         coalesce(c.sha256, b.sha256) AS sha256
  FROM checkpoint_blobs AS c LEFT JOIN state_blobs AS b USING (blob_id) ORDER BY c.thread_id, c.checkpoint_ns`;

/**
 * Checkpoints that are not what was written, or whose channels are not, and channels of no checkpoint: what a checkpoint that
 * is missing leaves. The values themselves are read elsewhere, each once.
 */
export function damagedCheckpoints(db: Database): readonly ValueFinding[] {
  const store = new GraphCheckpointStore(db);
  const keys = new Map<string, CheckpointKey[]>();
  for (const key of prepare<[], CheckpointKey>(db, SELECT_KEYS).all()) {
    const namespace = namespaceLabel(key);
    const others = keys.get(namespace);
    if (others === undefined) keys.set(namespace, [key]);
    else others.push(key);
  }
  const findings: ValueFinding[] = [];
  let unknown = 0;
  for (const { namespace, threadId, channels } of byNamespace(db)) {
    const examinations = (keys.get(namespace) ?? []).map((key) => examined(key, store, channels));
    keys.delete(namespace);
    findings.push(...examinations.flatMap((found) => found ?? []));
    const unknownHere = examinations.filter((found) => found === null).length;
    unknown += unknownHere;
    if (unknownHere === 0) findings.push(...orphans(threadId, channels));
  }
  for (const key of [...keys.values()].flat()) {
    const found = examined(key, store, new Map());
    if (found === null) unknown += 1;
    else findings.push(...found);
  }
  if (unknown === 0) return findings;
  const detail = `The content of ${unknown} checkpoints can only be checked by the program that wrote them.`;
  return [...findings, note('NOT_EXAMINED', 'checkpoints', detail)];
}

interface NamespaceChannels {
  readonly namespace: string;
  readonly threadId: string;
  readonly channels: ReadonlyMap<string, Channel>;
}

function* byNamespace(db: Database): Generator<NamespaceChannels> {
  let namespace = '';
  let threadId = '';
  let channels = new Map<string, Channel>();
  for (const row of prepare<[], DamagedChannelRow>(db, SELECT_CHANNELS).iterate()) {
    if (namespaceLabel(row) !== namespace) {
      if (channels.size > 0) yield { namespace, threadId, channels };
      [namespace, threadId, channels] = [namespaceLabel(row), row.threadId, new Map()];
    }
    channels.set(channelVersionKey(row), toChannel(row));
  }
  if (channels.size > 0) yield { namespace, threadId, channels };
}

const namespaceLabel = ({ threadId, checkpointNs }: NamespaceKey): string =>
  JSON.stringify([threadId, checkpointNs]);

/** `null` where only the program that wrote the checkpoint can tell what it is made of. */
function examined(
  key: CheckpointKey,
  store: GraphCheckpointStore,
  channels: ReadonlyMap<string, Channel>,
): readonly ValueFinding[] | null {
  let isKnown = true;
  const damage = findingsOrDamage((): readonly ValueFinding[] => {
    const stored = store.load(key);
    const made = stored === null ? null : madeOf(stored);
    if (stored === null || made === null) {
      isKnown = false;
      return [];
    }
    const { versions, inside } = made;
    for (const at of channelsApart(versions, {})) {
      const channel = channels.get(channelVersionKey(at));
      if (channel !== undefined) channel.isNamed = true;
    }
    const apart = channelsApart(versions, inside);
    const found = apart.map((at) => channels.get(channelVersionKey(at)) ?? { ...at, digest: NEVER_STORED });
    const missing = found.filter(({ digest }) => digest === NEVER_STORED);
    const isSound = isSealed(stored, found);
    if (missing.length > 0 && (!isSound || stored.rowSha256 === null))
      return missing.map((at) => missingFrom(key, at));
    if (isSound) return [];
    const detail = `Checkpoint ${key.checkpointId}, or one of its channels, was changed after it was written.`;
    return [error('VALUE_DAMAGED', 'checkpoints', detail)];
  });
  return isKnown ? damage.map(({ code, table, detail }) => asFinding(code, table, detail)) : null;
}

function asFinding(code: string, table: string | null, detail: string): ValueFinding {
  return error(code === 'VALUE_MISSING' ? code : 'VALUE_DAMAGED', table ?? 'checkpoints', detail);
}

/** Of a checkpoint that is JSON, whatever else its serializer makes of it. */
function madeOf({ checkpoint }: OrderedCheckpoint): Made | null {
  try {
    const parsed = JSON.parse(Buffer.from(checkpoint.bytes).toString('utf8')) as Partial<WrittenCheckpoint>;
    const { channel_versions: versions, channel_values: inside = {} } = parsed;
    return versions === undefined ? null : { versions, inside };
  } catch {
    return null;
  }
}

interface Made {
  readonly versions: Readonly<Record<string, string | number>>;
  /** The values that are in the checkpoint itself. */
  readonly inside: Readonly<Record<string, unknown>>;
}

interface WrittenCheckpoint {
  readonly channel_versions: Made['versions'];
  readonly channel_values: Made['inside'];
}

function orphans(threadId: string, channels: ReadonlyMap<string, Channel>): readonly ValueFinding[] {
  return [...channels.values()]
    .filter(({ isNamed }) => !isNamed)
    .map(({ channel, version }) => {
      const detail = `No checkpoint of "${threadId}" has channel "${channel}" at version ${version}: one may be missing.`;
      return error('ROW_ORPHANED', 'checkpoint_blobs', detail);
    });
}

function missingFrom({ checkpointId }: CheckpointKey, { channel, version }: ChannelKey): ValueFinding {
  const detail = `Checkpoint ${checkpointId} has no row for its channel "${channel}" at version ${version}.`;
  return error('VALUE_MISSING', 'checkpoint_blobs', detail);
}

function toChannel({ channel, version, type, sha256 }: DamagedChannelRow): Channel {
  return { channel, version, digest: channelDigest(type, sha256), isNamed: false };
}

const channelVersionKey = ({ channel, version }: ChannelKey): string => `${version}\n${channel}`;

interface DamagedWriteRow extends WriteRow {
  /** Of the blob that has its bytes. */
  readonly blobSha256: Uint8Array | null;
}

const SELECT_WRITES = `
  SELECT w.thread_id AS threadId, w.checkpoint_ns AS checkpointNs, w.checkpoint_id AS checkpointId, w.task_id AS taskId,
         w.idx, w.task_path AS taskPath, w.channel, w.type, w.value, w.blob_id AS blobId, w.sha256, w.sealed,
         b.sha256 AS blobSha256
  FROM checkpoint_writes AS w LEFT JOIN state_blobs AS b USING (blob_id)`;

const SELECT_SHORT = `
  SELECT checkpoint_id FROM checkpoints AS c
  WHERE writes <> (SELECT count(*) FROM checkpoint_writes AS w WHERE w.thread_id = c.thread_id
                     AND w.checkpoint_ns = c.checkpoint_ns AND w.checkpoint_id = c.checkpoint_id)`;

/** Writes that are not what was written, and checkpoints on top of which some are missing. A blob is checked by itself. */
export function damagedWrites(db: Database): readonly ValueFinding[] {
  const damaged: string[] = [];
  for (const row of prepare<[], DamagedWriteRow>(db, SELECT_WRITES).iterate()) {
    if (!isWhatWasWritten(row)) damaged.push(`${row.taskId}/${row.idx}`);
  }
  const short = prepare<[], CheckpointKey['checkpointId']>(db, SELECT_SHORT).pluck().all();
  return [
    ...damaged.map((write) =>
      error('VALUE_DAMAGED', 'checkpoint_writes', `Write ${write} does not match its SHA-256.`),
    ),
    ...short.map((id) =>
      error('VALUE_MISSING', 'checkpoint_writes', `Pending writes of checkpoint ${id} are missing.`),
    ),
  ];
}

function isWhatWasWritten(row: DamagedWriteRow): boolean {
  const { value, blobSha256, sealed, sha256 } = row;
  const actual = value === null ? blobSha256 : hashBytes(value);
  if (actual === null) return false;
  return equalBytes(sealed === 1 ? writeSeal(row, row, actual) : actual, sha256);
}
