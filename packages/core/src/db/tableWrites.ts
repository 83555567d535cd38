import type { Database } from 'better-sqlite3';

interface Writes {
  /** Of this connection, by table. */
  readonly of: Map<string, number>;
  /** Transactions that were undone. */
  undone: number;
}

const writesOf = new WeakMap<Database, Writes>();

const WRITTEN = /\b(?:INSERT(?: OR \w+)? INTO|REPLACE INTO|UPDATE(?: OR \w+)?|DELETE FROM)\s+(\w+)/g;

/** The tables that a statement writes, those of its `DO UPDATE` aside. */
export const tablesWritten = (sql: string): readonly string[] => [
  ...new Set([...sql.matchAll(WRITTEN)].map(([, table]) => table as string)),
];

/** This connection has written them. */
export function noteWrites(db: Database, tables: readonly string[]): void {
  const { of } = known(db);
  for (const table of tables) of.set(table, (of.get(table) ?? 0) + 1);
}

/** A transaction of this connection was undone. */
export function noteUndone(db: Database): void {
  known(db).undone += 1;
}

/** Grows whenever this connection has written one of the tables, or has undone a transaction. */
export function writesTo(db: Database, tables: readonly string[]): number {
  const { of, undone } = known(db);
  return tables.reduce((sum, table) => sum + (of.get(table) ?? 0), undone);
}

function known(db: Database): Writes {
  const writes = writesOf.get(db) ?? { of: new Map<string, number>(), undone: 0 };
  writesOf.set(db, writes);
  return writes;
}
