import { openScratch } from '../../src/db/connect.ts';
import { runMigrations } from '../../src/db/migrate.ts';
import { MIGRATIONS } from '../../src/db/migrations/index.ts';

/** The bytes of a state file, of small pages, as a release before a migration has left it, after `fill`, which is SQL. */
export function olderFile(before: number, fill: string): Buffer {
  const db = openScratch();
  db.pragma('page_size = 512');
  runMigrations(
    db,
    MIGRATIONS.filter(({ version }) => version < before),
  );
  db.exec(fill);
  const file = db.serialize();
  db.close();
  return file;
}

/** The bytes of a state file that a release after this one has written. */
export function newerFile(): Buffer {
  const next = { version: 9999, name: '9999_of_tomorrow', sha256: 'f'.repeat(64), sql: 'SELECT 1' };
  const db = openScratch();
  runMigrations(db, [...MIGRATIONS, next]);
  const file = db.serialize();
  db.close();
  return file;
}
