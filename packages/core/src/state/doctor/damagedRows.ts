import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
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
import { error, type ValueFinding } from './finding.ts';

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
