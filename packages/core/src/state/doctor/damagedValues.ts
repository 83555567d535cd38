import type { Database } from 'better-sqlite3';
import { findingsOrDamage } from '../../db/checkFile.ts';
import { prepare } from '../../db/prepare.ts';
import { BlobStore, equalBytes, hashBytes } from '../BlobStore.ts';
import type { CheckpointKey } from '../checkpointRecords.ts';
import { GraphCheckpointStore } from '../GraphCheckpointStore.ts';
import type { StoredState } from '../journaledState.ts';
import { type StepKey, StepStore } from '../StepStore.ts';
import { ThreadInputStore } from '../ThreadInputStore.ts';
import { blobsOfTurn } from './blobsOfTurn.ts';
import { error, type ValueFinding } from './finding.ts';

interface InlineWrite {
  readonly taskId: string;
  readonly idx: number;
  readonly value: Uint8Array;
  readonly sha256: Uint8Array;
}

interface InlineChannel {
  readonly channel: string;
  readonly version: string;
  readonly value: Uint8Array;
  readonly sha256: Uint8Array;
}

interface Turn extends StoredState {
  readonly id: string;
}

// Ascending: the base of a splice is older than the splice, so a store that remembers its last values reads each once.
const SELECT_BLOBS = 'SELECT blob_id FROM state_blobs ORDER BY blob_id ASC';

const SELECT_CHECKPOINTS = `
  SELECT thread_id AS threadId, checkpoint_ns AS checkpointNs, checkpoint_id AS checkpointId
  FROM checkpoints ORDER BY seq ASC`;

const SELECT_INLINE_WRITES = `
  SELECT task_id AS taskId, idx, value, sha256 FROM checkpoint_writes WHERE blob_id IS NULL`;

const SELECT_MISMATCHED_WRITES = `
  SELECT w.task_id AS taskId, w.idx FROM checkpoint_writes AS w JOIN state_blobs AS b USING (blob_id)
  WHERE b.sha256 <> w.sha256`;

const SELECT_INLINE_CHANNELS = `
  SELECT channel, version, value, sha256 FROM checkpoint_blobs WHERE value IS NOT NULL`;

const SELECT_STEPS = `
  SELECT thread_id AS threadId, lg_task_id AS lgTaskId, name FROM agent_steps WHERE state = 'done'`;

const SELECT_TURNS = `
  SELECT id, serialized_state, sha256 FROM langgraph_checkpoints ORDER BY rowid ASC`;

const SELECT_INPUTS = 'SELECT thread_id AS threadId, turn FROM thread_inputs ORDER BY rowid ASC';

/** Values that are not the ones whose SHA-256 was stored with them, in every table that has one. */
export function damagedValues(db: Database): readonly ValueFinding[] {
  return [
    ...damagedBlobs(db),
    ...damagedCheckpoints(db),
    ...damagedWrites(db),
    ...damagedChannels(db),
    ...damagedSteps(db),
    ...damagedInputs(db),
    ...unreadableTurns(db),
  ];
}

function damagedBlobs(db: Database): readonly ValueFinding[] {
  const blobs = new BlobStore(db);
  const ids = prepare<[], number>(db, SELECT_BLOBS).pluck().all();
  return ids.flatMap((blobId) => damageOf('state_blobs', () => blobs.get(blobId)));
}

function damagedCheckpoints(db: Database): readonly ValueFinding[] {
  const store = new GraphCheckpointStore(db);
  const keys = prepare<[], CheckpointKey>(db, SELECT_CHECKPOINTS).all();
  return keys.flatMap((key) => damageOf('checkpoints', () => store.load(key)));
}

function damagedSteps(db: Database): readonly ValueFinding[] {
  const steps = new StepStore(db);
  const keys = prepare<[], StepKey>(db, SELECT_STEPS).all();
  return keys.flatMap((key) => damageOf('agent_steps', () => steps.find(key)));
}

function damagedInputs(db: Database): readonly ValueFinding[] {
  const inputs = new ThreadInputStore(db);
  const turns = prepare<[], { readonly threadId: string; readonly turn: number }>(db, SELECT_INPUTS).all();
  return turns.flatMap(({ threadId, turn }) =>
    damageOf('thread_inputs', () => inputs.require(threadId, turn)),
  );
}

/** A write whose bytes are a blob names the blob's hash; the blob itself is checked above. */
function damagedWrites(db: Database): readonly ValueFinding[] {
  const damaged: Pick<InlineWrite, 'taskId' | 'idx'>[] = [];
  for (const write of prepare<[], InlineWrite>(db, SELECT_INLINE_WRITES).iterate()) {
    if (!equalBytes(hashBytes(write.value), write.sha256)) damaged.push(write);
  }
  damaged.push(...prepare<[], InlineWrite>(db, SELECT_MISMATCHED_WRITES).all());
  return damaged.map(({ taskId, idx }) =>
    error('VALUE_DAMAGED', 'checkpoint_writes', `Write ${taskId}/${idx} does not match its SHA-256.`),
  );
}

/** Of the values that lie in their rows. */
function damagedChannels(db: Database): readonly ValueFinding[] {
  const damaged: InlineChannel[] = [];
  for (const channel of prepare<[], InlineChannel>(db, SELECT_INLINE_CHANNELS).iterate()) {
    if (!equalBytes(hashBytes(channel.value), channel.sha256)) damaged.push(channel);
  }
  return damaged.map(({ channel, version }) =>
    error(
      'VALUE_DAMAGED',
      'checkpoint_blobs',
      `Channel ${channel} at ${version} does not match its SHA-256.`,
    ),
  );
}

/** Whether a turn's text is the one that was written, and its large fields exist. */
function unreadableTurns(db: Database): readonly ValueFinding[] {
  const existing = new Set(prepare<[], number>(db, SELECT_BLOBS).pluck().all());
  const findings: ValueFinding[] = [];
  for (const turn of prepare<[], Turn>(db, SELECT_TURNS).iterate()) {
    const blobIds = blobsOfTurn(turn);
    const missing = blobIds?.filter((blobId) => !existing.has(blobId));
    if (missing === undefined) {
      findings.push(
        error('VALUE_DAMAGED', 'langgraph_checkpoints', `Turn ${turn.id} is not what was written.`),
      );
    } else if (missing.length > 0) {
      const detail = `Turn ${turn.id} refers to missing blobs: ${missing.join(', ')}.`;
      findings.push(error('VALUE_MISSING', 'langgraph_checkpoints', detail));
    }
  }
  return findings;
}

function damageOf(table: string, read: () => unknown): readonly ValueFinding[] {
  const damage = findingsOrDamage(() => {
    read();
    return [];
  });
  return damage.map(({ detail }) => error('VALUE_DAMAGED', table, detail));
}
