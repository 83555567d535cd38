import type { Database } from 'better-sqlite3';

type Row = Readonly<Record<string, unknown>>;

/** The rows of a run's file, by table. */
export type Rows = ReadonlyMap<string, readonly Row[]>;

const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                AND name <> 'schema_migrations'`;

/** They keep rows from being replaced. */
const TRIGGERS = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";

interface Trigger {
  readonly name: string;
  readonly sql: string;
}

const tablesOf = (db: Database): readonly string[] => db.prepare<[], string>(TABLES).pluck().all();

export const rowsOf = (db: Database): Rows =>
  new Map(tablesOf(db).map((table) => [table, db.prepare<[], Row>(`SELECT * FROM ${table}`).all()]));

/** Makes a state file what the files of runs have, one after the other. Of a key that two have, the first one is there. */
export function mirror(files: readonly Rows[], db: Database): void {
  const copy = db.transaction(() => {
    const triggers = db.prepare<[], Trigger>(TRIGGERS).all();
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
    for (const table of tablesOf(db)) {
      db.exec(`DELETE FROM ${table}`);
      for (const [index, file] of files.entries()) insertAll(table, file.get(table) ?? [], { db, index });
    }
    for (const { sql } of triggers) db.exec(sql);
  });
  db.pragma('foreign_keys = OFF');
  copy.immediate();
  db.pragma('foreign_keys = ON');
}

function insertAll(
  table: string,
  rows: readonly Row[],
  { db, index }: { readonly db: Database; readonly index: number },
): void {
  const names = Object.keys(rows[0] ?? {}).filter((name) => index === 0 || name !== 'seq');
  if (names.length === 0) return;
  const values = names.map((name) => `@${name}`).join(', ');
  const insert = db.prepare(`INSERT OR IGNORE INTO ${table} (${names.join(', ')}) VALUES (${values})`);
  for (const row of rows) insert.run(row);
}
