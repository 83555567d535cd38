import type { Database } from 'better-sqlite3';
import { type FileSizes, fileSizes } from '../db/fileSizes.ts';
import { prepare } from '../db/prepare.ts';
import { transaction } from '../db/transaction.ts';

/** How the values in `state_blobs` are stored. */
export interface BlobStats {
  readonly count: number;
  /** Bytes in the file. */
  readonly storedBytes: number;
  /** Bytes of the values themselves. */
  readonly valueBytes: number;
}

/** What a state file holds. */
export interface StateStats extends FileSizes {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly fullValues: BlobStats;
  readonly splices: BlobStats;
}

const SELECT_TABLES = `
  SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`;

const SELECT_BLOBS = `
  SELECT count(*) AS count, coalesce(sum(length(bytes)), 0) AS storedBytes, coalesce(sum(size), 0) AS valueBytes
  FROM state_blobs WHERE (base_id IS NULL) = ?`;

/** Measures a state file, at one moment. Reads every page of it. */
export function stateStats(db: Database): StateStats {
  return transaction(db, 'deferred', (): StateStats => {
    const tables = prepare<[], string>(db, SELECT_TABLES).pluck().all();
    const blobs = prepare<[number], BlobStats>(db, SELECT_BLOBS);
    return {
      ...fileSizes(db),
      rows: Object.fromEntries(tables.map((name) => [name, countRows(db, name)])),
      fullValues: blobs.get(1) as BlobStats,
      splices: blobs.get(0) as BlobStats,
    };
  });
}

// An aggregate always gives a row.
function countRows(db: Database, table: string): number {
  return prepare<[], number>(db, `SELECT count(*) FROM "${table}"`).pluck().get() as number;
}
