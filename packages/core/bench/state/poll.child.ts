// Reads the newest checkpoint of a thread every 20 ms until it is killed.
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';

const [dbPath = ''] = process.argv.slice(2);
const saver = new SqliteSaver(createDatabase({ dbPath }));
process.stdout.write('ready\n');
for (;;) {
  await saver.getTuple({ configurable: { thread_id: 'bench' } });
  await sleep(20);
}
