// LangGraph's own checkpointers, installed beside an app.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ImportOptions } from '@devs/core';
import { usageError } from '../usageError.ts';

type Saver = ImportOptions['saver'];

/** A checkpointer that is open. */
export interface OpenSaver {
  readonly saver: Saver;
  close(): Promise<void>;
}

interface SaverPlace {
  /** Path of a SQLite file, or a `postgres://` URL. */
  readonly place: string;
  /** The file of the app: packages are those that it finds. */
  readonly app: string;
  /** Of PostgreSQL. @defaultValue `public` */
  readonly schema?: string | undefined;
  /** Whether threads are written there. */
  readonly writes: boolean;
}

const SQLITE = '@langchain/langgraph-checkpoint-sqlite';
const DRIVER = 'better-sqlite3';
const POSTGRES = '@langchain/langgraph-checkpoint-postgres';

/**
 * Opens the checkpointer of a file, read-only unless it is written, or of a database.
 *
 * A file that is not there is made where it is written, and read as an empty one.
 *
 * @throws DevsError `CONFIG_INVALID` where the checkpointer's package is not installed.
 */
export async function openSaver({ place, app, schema, writes }: SaverPlace): Promise<OpenSaver> {
  if (/^postgres(?:ql)?:\/\//.test(place)) return openPostgres(place, app, { schema, writes });
  if (schema !== undefined) throw usageError('--schema is for PostgreSQL.', 'Leave it out.');
  return openSqlite(place, app, writes);
}

interface SqliteModule {
  readonly SqliteSaver: new (db: SqliteDatabase) => Saver;
}

interface SqliteDatabase {
  pragma: (text: string) => unknown;
  close(): void;
}

type SqliteDriver = new (file: string, options: object) => SqliteDatabase;

async function openSqlite(place: string, app: string, writes: boolean): Promise<OpenSaver> {
  const { module, require } = await installed<SqliteModule>(SQLITE, app);
  const Database = require(DRIVER) as SqliteDriver;
  const isThere = existsSync(place);
  const db = new Database(
    writes || isThere ? place : ':memory:',
    writes || !isThere ? {} : { readonly: true },
  );
  if (!writes && isThere) db.pragma = () => undefined; // the saver would ask for a log, which is a write
  return { saver: new module.SqliteSaver(db), close: async () => db.close() };
}

interface PostgresModule {
  readonly PostgresSaver: {
    fromConnString(url: string, options: object): Saver & { setup(): Promise<void>; end(): Promise<void> };
  };
}

async function openPostgres(
  url: string,
  app: string,
  { schema, writes }: Pick<SaverPlace, 'schema' | 'writes'>,
): Promise<OpenSaver> {
  const { module } = await installed<PostgresModule>(POSTGRES, app);
  const saver = module.PostgresSaver.fromConnString(url, schema === undefined ? {} : { schema });
  if (writes) await saver.setup();
  return { saver, close: () => saver.end() };
}

/** The package's module, and its own `require`. */
async function installed<Module>(
  name: string,
  app: string,
): Promise<{ module: Module; require: NodeJS.Require }> {
  const manifest = manifestOf(name, app);
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    readonly exports: { readonly '.': { readonly import: { readonly default: string } } };
  };
  const file = path.join(path.dirname(manifest), exports['.'].import.default);
  return { module: (await import(pathToFileURL(file).href)) as Module, require: createRequire(manifest) };
}

function manifestOf(name: string, app: string): string {
  try {
    return createRequire(app).resolve(`${name}/package.json`);
  } catch (error) {
    throw usageError(
      `${name} is not installed where ${app} is.`,
      `Run npm install ${name} in its folder, then run the command again.`,
      error,
    );
  }
}
