// Opens an encrypted state file and does what it is told: waits with it open, writes, dies in the middle of a transaction,
// changes its key. The key is in the environment.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { assertSameFile } from '../../src/db/fileIdentity.ts';
import { transaction } from '../../src/db/prepare.ts';
import { rekey } from '../../src/db/rekey.ts';
import { isDevsError } from '../../src/errors/DevsError.ts';

const [, , dbPath = '', what = ''] = process.argv;
const encryptionKey = process.env['DEVS_ENCRYPTION_KEY'];
const tell = (text: string): boolean => process.stdout.write(`${text}\n`);
const INSERT = "INSERT INTO events (at, name, payload_json) VALUES (1, 'X', json_quote(?))";

function hold(): void {
  const db = createDatabase({ dbPath, encryptionKey });
  tell('open');
  process.stdin.resume().once('end', () => db.close());
}

/** By a connection that is told at once that others write. */
function write(times: number): void {
  const db = createDatabase({ dbPath, encryptionKey });
  db.pragma('busy_timeout = 0');
  try {
    for (let n = 0; n < times; n += 1) db.prepare(INSERT).run(String(n));
    tell('written');
  } catch (error) {
    tell((error as { readonly code: string }).code);
  }
  db.close();
}

/** Opens it anew for each row, with the key that it has by then, and tells of each that is written. */
function insist(times: number): void {
  const keys = [encryptionKey, process.env['DEVS_NEW_ENCRYPTION_KEY']];
  for (let n = 0; n < times; ) {
    try {
      const db = createDatabase({ dbPath, encryptionKey: keys[0] });
      transaction(db, 'immediate', () => db.prepare(INSERT).run(String(n)));
      assertSameFile(db);
      db.close();
      tell(String(n));
      n += 1;
    } catch (error) {
      if (!isDevsError(error)) throw error;
      keys.reverse();
    }
  }
}

/** With what is not committed on the disk: the log is written once the cache is full. */
function die(text: string): void {
  const db = createDatabase({ dbPath, encryptionKey });
  db.prepare(INSERT).run(text);
  db.pragma('cache_size = 4');
  db.exec('BEGIN IMMEDIATE');
  for (let n = 0; n < 200; n += 1) db.prepare(INSERT).run(`${n} ${text}`);
  process.kill(process.pid, 'SIGKILL');
}

function change(): void {
  tell('open');
  process.stdin.once('data', () => {
    process.stdin.pause();
    const newEncryptionKey = process.env['DEVS_NEW_ENCRYPTION_KEY'] ?? null;
    const start = performance.now();
    rekey({ dbPath, encryptionKey, newEncryptionKey });
    tell(String(performance.now() - start));
  });
}

if (what === 'hold') hold();
else if (what === 'write') write(20);
else if (what === 'rekey') change();
else if (what === 'insist') insist(40);
else die(what);
