// Opens a file as createDatabase does and is killed in front of its k-th statement, with no handler, flush or close.
import BetterSqlite3 from 'better-sqlite3';
import { ensureStateFile } from '../../src/db/ensureStateFile.ts';
import { runMigrations } from '../../src/db/migrate.ts';
import { APPLICATION_ID, applyPragmas } from '../../src/db/pragmas.ts';

const [, , dbPath = '', fatal = ''] = process.argv;
let statement = 0;

function countOrDie(): void {
  statement += 1;
  if (statement === Number(fatal)) process.kill(process.pid, 'SIGKILL');
}

ensureStateFile(dbPath);
const db = new BetterSqlite3(dbPath, { verbose: countOrDie });
applyPragmas(db, { synchronous: 'full', busyTimeoutMs: 5000 });
db.pragma(`application_id = ${APPLICATION_ID}`);
runMigrations(db);
process.stdout.write(String(statement));
