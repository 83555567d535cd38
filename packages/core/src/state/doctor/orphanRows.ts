import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { error, note, type ValueFinding } from './finding.ts';

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
