import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { isDamaged, SESSION_SEAL, SIGNAL_SEAL, STORE_ITEM_SEAL, THREAD_SEAL, useSeals } from '../rowSeals.ts';
import { error, type ValueFinding } from './finding.ts';

/** Rows that are not the ones whose SHA-256 was stored with them. */
export function damagedRows(db: Database): readonly ValueFinding[] {
  useSeals(db);
  return [THREAD_SEAL, SIGNAL_SEAL, SESSION_SEAL, STORE_ITEM_SEAL].flatMap((seal) => {
    const sql = `SELECT ${seal.id} FROM ${seal.table} WHERE ${isDamaged(seal)} ORDER BY rowid ASC`;
    const ids = prepare<[], string>(db, sql).pluck().all();
    return ids.map((id) => error('VALUE_DAMAGED', seal.table, `${seal.what} ${id} is not what was written.`));
  });
}
