import type { Database } from 'better-sqlite3';

/** Every row of every table: equal before and after what must not write anything. */
export function everyTable(db: Database): string {
  const tables = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  return JSON.stringify(tables.map((table) => [table, db.prepare(`SELECT * FROM ${table}`).raw().all()]));
}
