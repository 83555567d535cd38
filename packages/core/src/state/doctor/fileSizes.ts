import type { Database } from 'better-sqlite3';
import { pragmaValue, prepare, transaction } from '../../db/prepare.ts';
import { logBytes } from '../../db/writeAheadLog.ts';

/** Where the bytes of a state file are. */
export interface FileSizes {
  /** The main file as SQLite counts it, the write-ahead log included once it is moved over. */
  readonly fileBytes: number;
  /** Of {@link fileBytes}: free for reuse. */
  readonly freeBytes: number;
  /** The write-ahead log beside it; 0 in memory. */
  readonly walBytes: number;
  /** Bytes by table, its indexes included; largest first. */
  readonly tables: Readonly<Record<string, number>>;
}

const SELECT_TABLES = `
  SELECT coalesce(schema.tbl_name, stat.name) AS name, sum(stat.pgsize) AS bytes
  FROM dbstat AS stat LEFT JOIN sqlite_schema AS schema ON schema.name = stat.name
  WHERE stat.aggregate = TRUE GROUP BY 1 ORDER BY bytes DESC, name`;

/** Measures a state file; reads every page of it. */
export function fileSizes(db: Database): FileSizes {
  const read = (name: string): number => Number(pragmaValue(db, name));
  const pageSize = read('page_size');
  const tables = prepare<[], { readonly name: string; readonly bytes: number }>(db, SELECT_TABLES).all();
  return {
    fileBytes: read('page_count') * pageSize,
    freeBytes: read('freelist_count') * pageSize,
    walBytes: db.memory ? 0 : logBytes(db.name),
    tables: Object.fromEntries(tables.map(({ name, bytes }) => [name, bytes])),
  };
}

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

const SELECT_TABLE_NAMES = `
  SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`;

const SELECT_BLOBS = `
  SELECT count(*) AS count, coalesce(sum(length(bytes)), 0) AS storedBytes, coalesce(sum(size), 0) AS valueBytes
  FROM state_blobs WHERE (base_id IS NULL) = ?`;

/** Measures a state file, at one moment. Reads every page of it. */
export function stateStats(db: Database): StateStats {
  return transaction(db, 'deferred', (): StateStats => {
    const tables = prepare<[], string>(db, SELECT_TABLE_NAMES).pluck().all();
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
