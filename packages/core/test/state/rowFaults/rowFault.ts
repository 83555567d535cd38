import BetterSqlite3, { type Database } from 'better-sqlite3';

/** What became of a row. */
export interface RowFault {
  readonly kind: 'deleted' | 'swapped';
  readonly table: string;
  /** Which rows, for people. */
  readonly rows: string;
}

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of each key that two rows can exchange. */
  readonly keys: readonly (readonly string[])[];
  /** What a row is found by. */
  readonly id: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

/** From 0 to below 1. */
export type Random = () => number;

/** Numbers that are the same for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed + 0x6d2b79f5;
  return () => {
    state = Math.trunc(state + 0x6d2b79f5);
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Tables as the schema has them, however many there are. */
function tablesOf(db: Database): readonly Table[] {
  const names = db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL ORDER BY name",
    )
    .pluck()
    .all();
  return names.map((name) => tableOf(name, db));
}

function tableOf(name: string, db: Database): Table {
  const infos = db.pragma(`table_info("${name}")`) as readonly { name: string; type: string; pk: number }[];
  const [list] = db.pragma(`table_list("${name}")`) as readonly { wr: 0 | 1 }[];
  const columns = infos.map((info) => info.name);
  const primary = infos.filter(({ pk }) => pk > 0).map((info) => info.name);
  const indexes = db.pragma(`index_list("${name}")`) as readonly { name: string; unique: 0 | 1 }[];
  const unique = indexes
    .filter((index) => index.unique === 1)
    .map((index) =>
      (db.pragma(`index_info("${index.name}")`) as readonly Row[]).map((at) => `${at['name']}`),
    );
  const isRowid = primary.length === 1 && infos.find(({ pk }) => pk > 0)?.type === 'INTEGER';
  const hidden = list?.wr === 1 || isRowid ? [] : ['rowid'];
  const keys = [primary, ...unique, hidden].filter((key) => key.length > 0 && key.length < columns.length);
  return { name, columns: [...hidden, ...columns], keys, id: hidden.length > 0 ? hidden : primary };
}

/**
 * Deletes a row of a state file, or swaps the keys of two, behind the engine's back: nothing that the schema says is enforced.
 *
 * @returns The bytes of the file, and what was done to it; `null` where the table has no such rows.
 */
export function withRowFault(
  file: Buffer,
  random: Random,
): { readonly file: Buffer; readonly fault: RowFault } | null {
  const db = new BetterSqlite3(file);
  db.pragma('foreign_keys = OFF');
  db.pragma('ignore_check_constraints = ON');
  const triggers = db
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER "${name}"`);
  const table = pickedTable(db, random);
  const fault = random() < 0.5 ? deleted(table, db, random) : swapped(table, db, random);
  for (const { sql } of triggers) db.exec(sql);
  const damaged = db.serialize();
  db.close();
  return fault === null ? null : { file: damaged, fault };
}

/** Half of the time any table, half of the time that of any row: the small ones are not forgotten, nor are the large. */
function pickedTable(db: Database, random: Random): Table {
  const filled = tablesOf(db)
    .map((table) => ({ table, rows: countOf(table, db) }))
    .filter(({ rows }) => rows > 0);
  if (random() < 0.5) return picked(filled, random).table;
  let left = random() * filled.reduce((sum, { rows }) => sum + rows, 0);
  for (const { table, rows } of filled) {
    left -= rows;
    if (left < 0) return table;
  }
  throw new RangeError('No table has rows.');
}

const countOf = ({ name }: Table, db: Database): number =>
  db.prepare<[], number>(`SELECT count(*) FROM "${name}"`).pluck().get() ?? 0;

function picked<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('There is none.');
  return item;
}

function rowAt({ name, columns }: Table, at: number, db: Database): Row {
  const named = columns.map((column) => `"${column}" AS "${column}"`).join(', ');
  return db.prepare<[number], Row>(`SELECT ${named} FROM "${name}" LIMIT 1 OFFSET ?`).get(at) as Row;
}

function deleted(table: Table, db: Database, random: Random): RowFault {
  const row = rowAt(table, Math.floor(random() * countOf(table, db)), db);
  remove(table, row, db);
  return { kind: 'deleted', table: table.name, rows: toldOf(table, row) };
}

function swapped(table: Table, db: Database, random: Random): RowFault | null {
  const count = countOf(table, db);
  if (count < 2 || table.keys.length === 0) return null;
  const at = Math.floor(random() * count);
  const other = (at + 1 + Math.floor(random() * (count - 1))) % count;
  const [one, two] = [rowAt(table, at, db), rowAt(table, other, db)];
  const key = picked(table.keys, random);
  const exchanged = (row: Row, from: Row): Row => ({
    ...row,
    ...Object.fromEntries(key.map((name) => [name, from[name]])),
  });
  const written = [exchanged(one, two), exchanged(two, one)];
  if (JSON.stringify(written) === JSON.stringify([two, one])) return null;
  for (const row of [one, two]) remove(table, row, db);
  if (!written.every((row) => isInserted(table, row, db))) return null;
  return {
    kind: 'swapped',
    table: table.name,
    rows: `${key.join()} of ${toldOf(table, one)} and ${toldOf(table, two)}`,
  };
}

function remove(table: Table, row: Row, db: Database): void {
  const where = table.id.map((name) => `"${name}" IS ?`).join(' AND ');
  const { changes } = db
    .prepare(`DELETE FROM "${table.name}" WHERE ${where}`)
    .run(table.id.map((name) => row[name]));
  if (changes !== 1) throw new RangeError(`${changes} rows of ${table.name} were deleted.`);
}

/** False where another key forbids it. */
function isInserted({ name, columns }: Table, row: Row, db: Database): boolean {
  const names = columns.map((column) => `"${column}"`).join(', ');
  const marks = columns.map(() => '?').join(', ');
  const sql = `INSERT INTO "${name}" (${names}) VALUES (${marks}) ON CONFLICT DO NOTHING`;
  return db.prepare(sql).run(columns.map((column) => row[column])).changes === 1;
}

function toldOf({ columns, id }: Table, row: Row): string {
  const names = id[0] === 'rowid' ? columns : id;
  return names.map((name) => `${name} ${String(row[name]).slice(0, 60)}`).join(', ');
}
