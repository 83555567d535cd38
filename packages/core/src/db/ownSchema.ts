import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { openScratch } from './connect.ts';
import { hasLedger, LEDGER_SQL, pendingMigrations } from './ledger.ts';
import { runMigrations } from './migrate.ts';
import { MIGRATIONS, WHOLE_SCHEMA } from './migrations/index.ts';
import { APPLICATION_ID } from './pragmas.ts';
import { pragmaValue, prepare } from './prepare.ts';

/** Whose a database is: the engine's alone, or a program's that the engine has its tables in. */
export type SchemaOwner = 'engine' | 'program';

/** More of them are not listed. */
const SHOWN = 20;

/**
 * Refuses a database whose schema can change what the engine writes, hide rows from it or make rows up: a trigger decides a
 * gate the moment it is asked, and so does another default of a column.
 *
 * In a file of the engine's no trigger, view or virtual table may be but those that the migrations make, and no index on its
 * tables; a plain table of somebody else's may. In a database of a program that holds for the engine's own tables: what the
 * program has on its own is its own.
 *
 * @throws DevsError `SCHEMA_FOREIGN`, with the statements that remove what is foreign; as `runMigrations`.
 */
export function assertOwnSchema(db: Database, owner: SchemaOwner): void {
  if (owner === 'program' && !hasLedger(db)) return; // What is there has no table of the engine's to be on.
  const refused = refusedIn(db, owner);
  if (refused !== null) throw refused;
}

/** For who only reads: what a writer would refuse, `null` where that is nothing. @throws DevsError as `runMigrations`. */
export const foreignSchema = (db: Database): DevsError | null => refusedIn(db, ownerOf(db));

function refusedIn(db: Database, owner: SchemaOwner): DevsError | null {
  if (hasOwnSchemaOnly(db)) return null;
  const refused = schemaDrift(db).filter((drift) => isDriftRefused(drift, owner));
  return refused.length === 0 ? null : schemaForeign(db, refused);
}

/** By its mark: that of a program bears none. */
export function ownerOf(db: Database): SchemaOwner {
  return pragmaValue(db, 'application_id') === APPLICATION_ID ? 'engine' : 'program';
}

/** What is missing changes nothing that is written; its statements fail, or are slow. */
export function isDriftRefused({ kind, type, onOurs }: SchemaDrift, owner: SchemaOwner): boolean {
  if (kind === 'missing') return false;
  if (kind === 'changed' || (onOurs && type !== 'table')) return true;
  return owner === 'engine' && type !== 'table' && type !== 'index';
}

function schemaForeign(db: Database, refused: readonly SchemaDrift[]): DevsError {
  const shown = refused.slice(0, SHOWN);
  const statements = shown.flatMap(({ mend }) => (mend === null ? [] : [mend])).join(' ');
  const more = refused.length > SHOWN ? `, and ${refused.length - SHOWN} more` : '';
  return new DevsError(
    `The database ${db.name} contains objects that devs did not create: ${shown.map(formatDrift).join(', ')}${more}.`,
    {
      code: 'SCHEMA_FOREIGN',
      remedy: refused.some(({ mend }) => mend === null)
        ? 'Do not use this file. Restore a backup, or start with a new file.'
        : `Find out where they come from: rows may have been changed, too. To remove them, run in sqlite3: ${statements}`,
      context: { path: db.name, statements },
    },
  );
}

const formatDrift = ({ kind, type, name, table }: SchemaDrift): string => {
  const on = type === 'index' || type === 'trigger' ? ` on ${table}` : '';
  return `${kind === 'changed' ? 'an altered ' : ''}${type} ${name}${on}`;
};

/** How an object of the schema differs from what the migrations make. */
export interface SchemaDrift {
  readonly kind: 'missing' | 'changed' | 'foreign';
  /** `table`, `virtual table`, `index`, `trigger` or `view`. */
  readonly type: string;
  readonly name: string;
  /** The table it is, or is attached to, as the schema has it. */
  readonly table: string;
  /** Whether that table is one of the engine's. */
  readonly onOurs: boolean;
  /** SQL that makes it as the migrations do; `null` for a table, whose rows would be lost, and for what is missing. */
  readonly mend: string | null;
}

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly sql: string;
}

// Not by the beginning of a name: who writes the pages themselves can name a trigger `sqlite_…`, and SQLite fires it.
const FROM_OBJECTS = `
  FROM sqlite_schema
  WHERE NOT (type = 'index' AND sql IS NULL)
    AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat3', 'sqlite_stat4'))`;

const SELECT_OBJECTS = `
  SELECT iif(type = 'table' AND rootpage = 0, 'virtual table', type) AS type, name, tbl_name AS "table",
         coalesce(sql, '') AS sql
  ${FROM_OBJECTS} ORDER BY type, name`;

const SELECT_SQL = `SELECT sql ${FROM_OBJECTS}`;

/** What the newest engine makes. In an older file the like of it does what the engine would have it do, or stops a migration. */
const newest: ReadonlySet<string> = new Set([...WHOLE_SCHEMA, LEDGER_SQL]);

/**
 * Compares the schema of a file with what its own migrations make on an empty database. A file that lacks the latest
 * ones is compared with those it has.
 *
 * @throws DevsError as `runMigrations`, if its history is not the engine's.
 */
export function schemaDrift(db: Database): readonly SchemaDrift[] {
  const expected = expectedObjects(MIGRATIONS.length - pendingMigrations(db).length);
  const actual = new Map(objectsOf(db).map((object) => [schemaObjectKey(object), object]));
  const ours = new Set(expected.filter(({ type }) => type === 'table').map(({ name }) => name));
  const driftOf = (
    kind: SchemaDrift['kind'],
    found: SchemaObject,
    made: SchemaObject | null,
  ): SchemaDrift => ({
    kind,
    type: found.type,
    name: found.name,
    table: found.table,
    onOurs: ours.has(found.table.toLowerCase()),
    mend: kind === 'missing' ? null : mendOf(found, made),
  });
  const drift = expected.flatMap((object): readonly SchemaDrift[] => {
    const found = actual.get(schemaObjectKey(object));
    actual.delete(schemaObjectKey(object));
    if (found === undefined) return [driftOf('missing', object, object)];
    return isSameSql(found.sql, object.sql) ? [] : [driftOf('changed', found, object)];
  });
  return [...drift, ...[...actual.values()].map((object) => driftOf('foreign', object, null))];
}

/** Whether there is nothing but what the newest engine makes. Quick: for every open. */
function hasOwnSchemaOnly(db: Database): boolean {
  return prepare<[], string | null>(db, SELECT_SQL)
    .pluck()
    .all()
    .every((sql) => newest.has(sql ?? ''));
}

/** By number of migrations: they are constants, so what they make is one too. */
const made = new Map<number, readonly SchemaObject[]>();

/** Versions are applied in order, so a file has the first so many of them. */
function expectedObjects(count: number): readonly SchemaObject[] {
  const known = made.get(count);
  if (known !== undefined) return known;
  const scratch = openScratch();
  runMigrations(scratch, count === MIGRATIONS.length ? MIGRATIONS : MIGRATIONS.slice(0, count));
  const objects = objectsOf(scratch);
  scratch.close();
  made.set(count, objects);
  return objects;
}

function objectsOf(db: Database): readonly SchemaObject[] {
  return prepare<[], SchemaObject>(db, SELECT_OBJECTS).all();
}

/** SQLite takes names in any case. */
function schemaObjectKey({ type, name }: SchemaObject): string {
  return `${type === 'virtual table' ? 'table' : type} ${name.toLowerCase()}`;
}

/** @param made - What is in its place by the migrations. */
function mendOf({ type, name }: SchemaObject, made: SchemaObject | null): string | null {
  if (made?.type === 'table') return null;
  const drop = `DROP ${type === 'virtual table' ? 'TABLE' : type.toUpperCase()} "${name.replaceAll('"', '""')}";`;
  return made === null ? drop : `${drop} ${made.sql};`;
}

const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\S/g;

/** Comments, spaces and quotes of names are as the version of SQLite left them that altered the table. */
function isSameSql(a: string, b: string): boolean {
  return a === b || sqlTokens(a) === sqlTokens(b);
}

function sqlTokens(sql: string): string {
  return (sql.match(TOKEN) ?? [])
    .filter((token) => !/^(?:--|\/\*)/.test(token))
    .map((token) => (/^"\w+"$/.test(token) ? token.slice(1, -1) : token))
    .join(' ');
}
