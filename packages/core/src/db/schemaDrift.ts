import type { Database } from 'better-sqlite3';
import { openScratch } from './createDatabase.ts';
import { pendingMigrations, runMigrations } from './migrate.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { prepare } from './prepare.ts';

/** How an object of the schema differs from what the migrations make. */
export interface SchemaDrift {
  readonly kind: 'missing' | 'changed' | 'foreign';
  /** `table`, `index`, `trigger` or `view`. */
  readonly type: string;
  readonly name: string;
  /** The table it is, or is attached to. */
  readonly table: string;
}

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly sql: string;
}

const SELECT_OBJECTS = `
  SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`;

/**
 * Compares the schema of a file with what its own migrations make on an empty database. A file that lacks the latest
 * ones is compared with those it has.
 *
 * @throws DevsError as `runMigrations`, if its history is not the engine's.
 */
export function schemaDrift(db: Database): readonly SchemaDrift[] {
  const pending = new Set(pendingMigrations(db).map(({ version }) => version));
  const expected = expectedObjects(MIGRATIONS.filter(({ version }) => !pending.has(version)).length);
  const actual = new Map(objectsOf(db).map((object) => [keyOf(object), object]));
  const drift = expected.flatMap((object): readonly SchemaDrift[] => {
    const found = actual.get(keyOf(object));
    actual.delete(keyOf(object));
    if (found === undefined) return [driftOf('missing', object)];
    return found.sql === object.sql ? [] : [driftOf('changed', object)];
  });
  return [...drift, ...[...actual.values()].map((object) => driftOf('foreign', object))];
}

/** By number of migrations: they are constants, so what they make is one too. */
const made = new Map<number, readonly SchemaObject[]>();

/** Versions are applied in order, so a file has the first so many of them. */
function expectedObjects(count: number): readonly SchemaObject[] {
  const known = made.get(count);
  if (known !== undefined) return known;
  const scratch = openScratch();
  runMigrations(scratch, MIGRATIONS.slice(0, count));
  const objects = objectsOf(scratch);
  scratch.close();
  made.set(count, objects);
  return objects;
}

function objectsOf(db: Database): readonly SchemaObject[] {
  return prepare<[], SchemaObject>(db, SELECT_OBJECTS).all();
}

function keyOf({ type, name }: SchemaObject): string {
  return `${type} ${name}`;
}

function driftOf(kind: SchemaDrift['kind'], { type, name, table }: SchemaObject): SchemaDrift {
  return { kind, type, name, table };
}
