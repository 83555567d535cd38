import { resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { identityOf, watchFile } from './fileIdentity.ts';
import { pendingMigrations } from './ledger.ts';
import { runMigrations } from './migrate.ts';
import { recordOpen } from './openFiles.ts';
import { assertOwnSchema } from './ownSchema.ts';
import { pragmaDeviations } from './pragmas.ts';
import { pragma } from './prepare.ts';
import { withStateFaults } from './sqliteFault.ts';

const preparedConnections = new WeakSet<Database>();

/**
 * Makes a connection that its caller opened usable as a state file: migrations, and durable commits. Everything else
 * about the connection is the caller's; what differs from `createDatabase` is warned about once. Does nothing to a
 * connection that is prepared already.
 *
 * @throws DevsError `SCHEMA_FOREIGN`, as `runMigrations`, or a storage fault.
 */
export function prepareConnection(db: Database): void {
  if (preparedConnections.has(db)) return;
  withStateFaults(() => {
    if (db.readonly) {
      pendingMigrations(db);
    } else {
      assertOwnSchema(db, 'program');
      pragma(db, 'synchronous = FULL');
      runMigrations(db);
      warnAboutDeviations(db);
    }
  });
  watchOpenFile(db);
  markPrepared(db);
}

/** What the path led to before the handle was opened is unknown here; a URI leads to no path at all. */
function watchOpenFile(db: Database): void {
  const path = resolve(db.name);
  const file = db.memory ? undefined : identityOf(path);
  if (file === undefined) return;
  recordOpen(db, path, 'rekey' in db ? 'cipher' : 'plain');
  watchFile(db, path, file);
}

/** Records that a connection needs no further preparation. */
export function markPrepared(db: Database): void {
  preparedConnections.add(db);
}

function warnAboutDeviations(db: Database): void {
  const deviations = pragmaDeviations(db, 'full');
  if (deviations.length === 0) return;
  const list = deviations.map(({ text }) => text).join('; ');
  process.emitWarning(`A state file was opened without createDatabase: ${list}.`, 'DevsConnectionWarning');
}
