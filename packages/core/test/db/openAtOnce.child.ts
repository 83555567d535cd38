// Waits for the start signal, opens the file that nobody has made yet, writes one row and says so.
import { existsSync } from 'node:fs';
import { createDatabase } from '../../src/db/createDatabase.ts';

const [dbPath = '', startFile = '', name = ''] = process.argv.slice(2);
process.stdout.write('ready\n');
// Asleep between looks, but for a millisecond only: all of them must start together.
const nap = new Int32Array(new SharedArrayBuffer(4));
while (!existsSync(startFile)) Atomics.wait(nap, 0, 0, 1);
const db = createDatabase({ dbPath });
db.prepare("INSERT INTO events (at, name, payload_json) VALUES (0, ?, '{}')").run(name);
db.close();
