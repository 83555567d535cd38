import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';

/** What a state file is known by, whatever its place: a copy and a backup have it too. */
export interface StateFileName {
  /** 64 hex digits. */
  readonly id: string;
  /** How many runs are in it. */
  readonly runs: number;
  /** Nobody has recorded anything in it. */
  readonly isEmpty: boolean;
}

const SELECT_ID = 'SELECT file_id FROM state_file WHERE id = 1';

const INSERT_ID = 'INSERT INTO state_file (id, file_id) VALUES (1, ?) ON CONFLICT DO NOTHING';

/** When each migration came is different in any two files that were made apart. */
const SELECT_HISTORY = 'SELECT version, sha256, applied_at FROM schema_migrations ORDER BY version';

const HAS_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";

const COUNT_RUNS = 'SELECT count(*) FROM threads';

/** Every table but those that a new file has rows in. */
const SELECT_TABLES = `
  SELECT name FROM sqlite_schema
  WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    AND name NOT IN ('schema_migrations', 'decision_log_end', 'state_file')`;

/**
 * Reads the name of a state file; one that nobody has named, and one of an earlier release, goes by its history.
 *
 * @param db - An open state file of any release, which may be read-only.
 */
export function readStateFileName(db: Database): StateFileName {
  const read = <T>(sql: string): T | undefined => prepare<[], T>(db, sql).pluck().get();
  const has = (table: string): boolean => prepare<[string]>(db, HAS_TABLE).get(table) !== undefined;
  const named = has('state_file') ? read<string>(SELECT_ID) : undefined;
  const runs = has('threads') ? (read<number>(COUNT_RUNS) ?? 0) : 0;
  const tables = prepare<[], string>(db, SELECT_TABLES).pluck().all();
  const isEmpty = tables.every(
    (name) => read(`SELECT 1 FROM "${name.replaceAll('"', '""')}" LIMIT 1`) === undefined,
  );
  return { id: named ?? sha256Hex(JSON.stringify(prepare(db, SELECT_HISTORY).all())), runs, isEmpty };
}

/** Gives a state file a name at random, unless it has one; returns it. @param db - Open, migrated, to be written. */
export function nameStateFile(db: Database): string {
  immediateTransaction(db, () => prepare<[string]>(db, INSERT_ID).run(randomBytes(32).toString('hex')));
  return readStateFileName(db).id;
}
