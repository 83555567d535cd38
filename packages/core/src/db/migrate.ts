import type { Database } from 'better-sqlite3';
import { LEDGER_SQL, pendingMigrations } from './ledger.ts';
import type { Migration } from './Migration.ts';
import { MIGRATIONS, WHOLE_SCHEMA } from './migrations/index.ts';
import { execute, prepare, transaction } from './prepare.ts';

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
