// `file`: listens for news of a state file, holds its write lock, listens no more and anew, says so, and is told by a line
// to let go. Nothing ends the program but that there is nothing left to do, while it listens.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../createDatabase.ts';
import { onNews } from '../FileWatch.ts';

const db = createDatabase({ dbPath: process.argv[2] ?? '' });
db.exec('BEGIN IMMEDIATE');
for (let round = 0; round < 20; round += 1) {
  const stop = onNews(db, () => undefined);
  await sleep(1);
  stop();
}
process.stdout.write('held\n');
await once(process.stdin, 'data');
process.stdin.destroy();
db.exec('ROLLBACK');
onNews(db, () => undefined);
