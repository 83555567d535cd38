import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { hasLedger } from './ledger.ts';
import { APPLICATION_ID } from './pragmas.ts';
import { pragmaValue } from './prepare.ts';
import { hasOwnSchemaOnly, type SchemaDrift, schemaDrift } from './schemaDrift.ts';

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
