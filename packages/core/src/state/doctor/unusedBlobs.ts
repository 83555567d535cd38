import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { blobsOfTurn, type StoredState } from '../journaledState.ts';
import { note, type ValueFinding } from './finding.ts';

interface BlobSize {
  readonly blobId: number;
  readonly baseId: number | null;
  readonly bytes: number;
}

const SELECT_REFERRED = `
  SELECT blob_id FROM checkpoint_blobs WHERE blob_id IS NOT NULL
  UNION SELECT blob_id FROM checkpoint_writes WHERE blob_id IS NOT NULL
  UNION SELECT blob_id FROM agent_steps WHERE blob_id IS NOT NULL
  UNION SELECT blob_id FROM step_transcripts`;

const SELECT_TURNS = `SELECT serialized_state, sha256 FROM langgraph_checkpoints`;

// Newest first: a splice comes before the base it needs.
const SELECT_SIZES = `
  SELECT blob_id AS blobId, base_id AS baseId, length(bytes) AS bytes FROM state_blobs ORDER BY blob_id DESC`;

/** Bytes that nothing refers to any more: what a deleted run leaves until it is pruned. */
export function unusedBlobs(db: Database): readonly ValueFinding[] {
  const used = new Set(prepare<[], number>(db, SELECT_REFERRED).pluck().all());
  for (const turn of prepare<[], StoredState>(db, SELECT_TURNS).iterate()) {
    for (const blobId of blobsOfTurn(turn) ?? []) used.add(blobId);
  }
  const unused: BlobSize[] = [];
  for (const blob of prepare<[], BlobSize>(db, SELECT_SIZES).iterate()) {
    if (!used.has(blob.blobId)) unused.push(blob);
    else if (blob.baseId !== null) used.add(blob.baseId);
  }
  if (unused.length === 0) return [];
  const bytes = unused.reduce((sum, blob) => sum + blob.bytes, 0);
  return [note('BLOB_UNUSED', 'state_blobs', `${unused.length} blobs of ${bytes} bytes are unused.`)];
}
