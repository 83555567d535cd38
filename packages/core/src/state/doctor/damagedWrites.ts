import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { equalBytes, hashBytes } from '../blobs/BlobStore.ts';
import { type CheckpointKey, type WriteRow, writeSeal } from '../checkpoints/checkpointRecords.ts';
import { error, type ValueFinding } from './finding.ts';

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
