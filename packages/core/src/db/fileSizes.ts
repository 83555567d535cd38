import type { Database } from 'better-sqlite3';
import { pragmaValue, prepare } from './prepare.ts';
import { logBytes } from './writeAheadLog.ts';

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
