// What the doctor asks of rows by SQL alone: damaged, unsealed, without their other half, of an unknown status or kind, unused.

import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { HITL_SESSION_KINDS } from '../gates/hitlSession.ts';
import { blobsOfTurn, type StoredState } from '../journaledState.ts';
import {
  CHILD_SEAL,
  isDamaged,
  SESSION_SEAL,
  SIGNAL_SEAL,
  STORE_ITEM_SEAL,
  THREAD_SEAL,
  useSeals,
  VOTE_SEAL,
  WAIT_SEAL,
} from '../rows/rows.ts';
import { SIGNAL_KINDS } from '../threads/SignalStore.ts';
import { THREAD_STATUSES } from '../threads/threadRecords.ts';
import { error, note, type ValueFinding } from './finding.ts';

const SEALS = [THREAD_SEAL, SIGNAL_SEAL, SESSION_SEAL, VOTE_SEAL, STORE_ITEM_SEAL, WAIT_SEAL, CHILD_SEAL];

const SELECT_SHORT_NAMESPACES = `
  SELECT namespace FROM store_counts AS c
  WHERE items <> (SELECT count(*) FROM store_items AS i WHERE i.namespace = c.namespace)`;

const SELECT_MOVED_ITEMS = `
  SELECT key FROM store_items WHERE seal IS NOT NULL AND seal <> seal_of(seq, row_sha256)`;

/** Rows that are not the ones whose SHA-256 was stored with them. */
export function damagedRows(db: Database): readonly ValueFinding[] {
  useSeals(db);
  const short = prepare<[], string>(db, SELECT_SHORT_NAMESPACES).pluck().all();
  const missing = short.map((name) =>
    error('VALUE_MISSING', 'store_items', `Items of the store's namespace "${name}" are missing.`),
  );
  const damaged = SEALS.flatMap((seal) => {
    const sql = `SELECT ${seal.id} FROM ${seal.table} WHERE ${isDamaged(seal)} ORDER BY rowid ASC`;
    const ids = prepare<[], string>(db, sql).pluck().all();
    return ids.map((id) =>
      error('VALUE_DAMAGED', seal.table, `${seal.what} ${id} was changed after it was written.`),
    );
  });
  const moved = prepare<[], string>(db, SELECT_MOVED_ITEMS).pluck().all();
  const misplaced = moved.map((key) =>
    error('VALUE_DAMAGED', 'store_items', `Item "${key}" of the store is in the wrong place.`),
  );
  return [...damaged, ...missing, ...misplaced];
}

/** Rows that have no sum over their key, by table. */
const UNSEALED: Readonly<Record<string, string>> = {
  checkpoints: 'row_sha256 IS NULL',
  checkpoint_writes: 'sealed = 0',
  state_blobs: 'seal IS NULL',
  agent_steps: "seal IS NULL AND state = 'done'",
  thread_inputs: 'seal IS NULL',
  stream_events: 'seal IS NULL',
  store_items: 'seal IS NULL',
  git_packs: 'sha256 IS NULL',
  git_stands: 'row_sha256 IS NULL',
  waits: 'row_sha256 IS NULL',
  child_runs: 'row_sha256 IS NULL',
};

/** What was written by an earlier release, whose rows nothing binds to their keys. */
export function unsealedRows(db: Database): readonly ValueFinding[] {
  return Object.entries(UNSEALED).flatMap(([table, condition]) => {
    const sql = `SELECT count(*) FROM ${table} WHERE ${condition}`;
    const rows = prepare<[], number>(db, sql).pluck().get() ?? 0;
    if (rows === 0) return [];
    const detail = `${rows} older ${rows === 1 ? 'row has' : 'rows have'} no checksum over the key.`;
    return [note('ROW_UNSEALED', table, detail)];
  });
}

const SELECT_WRITES_WITHOUT_CHECKPOINT = `
  SELECT DISTINCT checkpoint_id FROM checkpoint_writes AS w
  WHERE NOT EXISTS (SELECT 1 FROM checkpoints AS c WHERE c.thread_id = w.thread_id
                      AND c.checkpoint_ns = w.checkpoint_ns AND c.checkpoint_id = w.checkpoint_id)`;

const SELECT_CHANNELS_WITHOUT_VALUE = `
  SELECT thread_id || ': ' || channel || ' at ' || version FROM checkpoint_blobs
  WHERE (value IS NULL AND blob_id IS NULL) <> (type = 'empty')`;

// A run inside a run has the outer one's id and a slash in front of its own; only the outer one is a thread.
const SELECT_SESSIONS_WITHOUT_RUN = `
  SELECT id FROM hitl_sessions AS s
  WHERE thread_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM threads AS t WHERE t.thread_id = s.thread_id
      OR substr(s.thread_id, 1, length(t.thread_id) + 1) = t.thread_id || '/')`;

/** Rows whose other half is missing, beyond what foreign keys can say. */
export function orphanRows(db: Database): readonly ValueFinding[] {
  const list = (sql: string): readonly string[] => prepare<[], string>(db, sql).pluck().all();
  return [
    // Plain LangGraph use without `sync` durability may write first and be killed before the checkpoint.
    ...list(SELECT_WRITES_WITHOUT_CHECKPOINT).map((id) =>
      note('ROW_ORPHANED', 'checkpoint_writes', `Writes belong to checkpoint ${id}, which does not exist.`),
    ),
    ...list(SELECT_CHANNELS_WITHOUT_VALUE).map((channel) =>
      error('VALUE_MISSING', 'checkpoint_blobs', `Channel without a value: ${channel}.`),
    ),
    ...list(SELECT_SESSIONS_WITHOUT_RUN).map((id) =>
      error('ROW_ORPHANED', 'hitl_sessions', `Session ${id} belongs to a run that does not exist.`),
    ),
  ];
}

const SELECT_RUNS = `
  SELECT thread_id FROM threads WHERE status NOT IN (SELECT value FROM json_each(?)) ORDER BY rowid ASC`;

const SELECT_SIGNALS = `
  SELECT id FROM signals WHERE kind NOT IN (SELECT value FROM json_each(?)) ORDER BY rowid ASC`;

const SELECT_SESSIONS = `
  SELECT id FROM hitl_sessions WHERE kind NOT IN (SELECT value FROM json_each(?)) ORDER BY rowid ASC`;

/** Rows whose status or kind this engine does not know: the code checks what no CHECK does. */
export function unknownWords(db: Database): readonly ValueFinding[] {
  const idsOf = (sql: string, known: readonly string[]): readonly string[] =>
    prepare<[string], string>(db, sql).pluck().all(JSON.stringify(known));
  return [
    ...idsOf(SELECT_RUNS, THREAD_STATUSES).map((id) =>
      error('VALUE_DAMAGED', 'threads', `Run ${id} has an unknown status.`),
    ),
    ...idsOf(SELECT_SESSIONS, HITL_SESSION_KINDS).map((id) =>
      error('VALUE_DAMAGED', 'hitl_sessions', `Session ${id} has an unknown kind.`),
    ),
    ...idsOf(SELECT_SIGNALS, SIGNAL_KINDS).map((id) =>
      error('VALUE_DAMAGED', 'signals', `Signal ${id} has an unknown kind.`),
    ),
  ];
}

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
