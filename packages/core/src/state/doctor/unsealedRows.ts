import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { note, type ValueFinding } from './finding.ts';

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
