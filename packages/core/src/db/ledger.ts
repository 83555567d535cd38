import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import type { Migration } from './Migration.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { prepare } from './prepare.ts';

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
