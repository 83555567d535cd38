// The migrations of a state file: the ledger of those that were applied, those it lacks, and how they are applied.

import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import type { Migration } from './Migration.ts';
import { MIGRATIONS, WHOLE_SCHEMA } from './migrations/index.ts';
import { execute, prepare, transaction } from './prepare.ts';

type AppliedMigration = Pick<Migration, 'version' | 'name' | 'sha256'>;

const SELECT_LEDGER = `
  SELECT count(*) FROM pragma_table_info('schema_migrations') WHERE name = 'sha256'`;

/** As SQLite keeps it. */
export const LEDGER_SQL = `CREATE TABLE schema_migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    applied_at TEXT NOT NULL
  ) STRICT`;

const SELECT_APPLIED = `
  SELECT version, name, sha256 FROM schema_migrations ORDER BY version`;

/** The version of the tables in a file that is up to date. */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/**
 * What a file lacks, oldest first. Only reads.
 *
 * @throws DevsError as `runMigrations`.
 */
export function pendingMigrations(
  db: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): readonly Migration[] {
  const applied = appliedMigrations(db);
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const row of applied) assertKnownMigration(row, byVersion.get(row.version));
  const done = new Set(applied.map(({ version }) => version));
  const highest = applied.at(-1)?.version ?? 0;
  const pending = migrations.filter(({ version }) => !done.has(version));
  for (const migration of pending) {
    if (migration.version < highest) throw migrationGap(migration, highest);
  }
  return pending;
}

/**
 * For who only reads: a file of an earlier release lacks what the statements read.
 *
 * @throws DevsError `CONFIG_INVALID` naming how it is brought up to date; otherwise as `runMigrations`.
 */
export function assertUpToDate(db: Database): void {
  const [pending] = pendingMigrations(db);
  if (pending === undefined) return;
  throw new DevsError(`The state file is from an earlier release: migration ${pending.name} is missing.`, {
    code: 'CONFIG_INVALID',
    remedy:
      'Upgrade the file with devs status, or start the program that writes it. Opening it read-only does not upgrade it.',
    context: { migration: pending.name },
  });
}

/** True when the file holds the engine's own ledger, and not another tool's table of the same name. */
export function hasLedger(db: Database): boolean {
  return prepare<[], number>(db, SELECT_LEDGER).pluck().get() === 1;
}

function appliedMigrations(db: Database): readonly AppliedMigration[] {
  return hasLedger(db) ? prepare<[], AppliedMigration>(db, SELECT_APPLIED).all() : [];
}

function assertKnownMigration(applied: AppliedMigration, known: Migration | undefined): void {
  if (known === undefined) throw schemaTooNew(applied);
  if (known.sha256 !== applied.sha256) throw migrationEdited(applied);
}

function schemaTooNew({ version, name }: AppliedMigration): DevsError {
  return new DevsError(`The state file has migration ${name}, which this version of devs does not know.`, {
    code: 'SCHEMA_TOO_NEW',
    remedy: 'Upgrade @devs/core, or use a backup made before the newer version opened the file.',
    context: { version, migration: name },
  });
}

function migrationEdited({ version, name }: AppliedMigration): DevsError {
  return new DevsError(`Migration ${name} was edited after it was applied to this file.`, {
    code: 'MIGRATION_EDITED',
    remedy:
      'Restore the original .sql and put the change into a new migration. Before the first release, delete the state folder instead.',
    context: { version, migration: name },
  });
}

function migrationGap({ version, name }: Migration, highest: number): DevsError {
  return new DevsError(`Migration ${name} is missing from a file that already has number ${highest}.`, {
    code: 'MIGRATION_GAP',
    remedy:
      'Give the migration a number above every released one. Before the first release, delete the state folder instead.',
    context: { version, migration: name, highest },
  });
}

const SELECT_IS_EMPTY = 'SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)';

const CREATE_LEDGER = LEDGER_SQL.replace('TABLE', 'TABLE IF NOT EXISTS');

const INSERT_APPLIED = `
  INSERT INTO schema_migrations (version, name, sha256, applied_at)
  VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`;

/**
 * Brings a state file up to date. Safe on every open, and from several processes at once.
 *
 * All missing migrations are applied in one write transaction that reads the history again: a second process finds the
 * work done, and a killed one leaves the old schema. A rejected file is not written to. An empty file receives the
 * final schema at once.
 *
 * @param db - An open connection; foreign keys can be on.
 * @param migrations - In ascending order; the engine's own unless a test passes others.
 * @returns The names applied by this call, oldest first; empty if the file was up to date.
 * @throws DevsError `SCHEMA_TOO_NEW` if a newer engine has written the file.
 * @throws DevsError `MIGRATION_EDITED` if an applied migration has changed since.
 * @throws DevsError `MIGRATION_GAP` if a migration is missing below an applied one.
 */
export function runMigrations(db: Database, migrations: readonly Migration[] = MIGRATIONS): string[] {
  assertAscending(migrations);
  if (pendingMigrations(db, migrations).length === 0) return [];
  return transaction(db, 'immediate', () => {
    const pending = pendingMigrations(db, migrations);
    if (pending.length === 0) return [];
    const steps =
      migrations === MIGRATIONS && isEmptySchema(db)
        ? [WHOLE_SCHEMA.join(';\n')]
        : pending.map(({ sql }) => sql);
    execute(db, CREATE_LEDGER);
    for (const sql of steps) execute(db, sql);
    const record = prepare<[number, string, string]>(db, INSERT_APPLIED);
    for (const { version, name, sha256 } of pending) record.run(version, name, sha256);
    return pending.map(({ name }) => name);
  });
}

const isEmptySchema = (db: Database): boolean => prepare<[], number>(db, SELECT_IS_EMPTY).pluck().get() === 1;

function assertAscending(migrations: readonly Migration[]): void {
  migrations.forEach(({ version }, index) => {
    const previous = migrations[index - 1]?.version ?? 0;
    if (Number.isSafeInteger(version) && version > previous) return;
    throw new RangeError(`migrations: ${version} comes after ${previous}`);
  });
}
