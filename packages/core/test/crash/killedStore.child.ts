// Counts a visit in the store and dies once that is on disk, before its node has returned; or puts items as fast as it can.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteStore } from '../../src/langgraph.ts';
import { countedVisits } from './countedVisits.ts';

const [file = '', what = ''] = process.argv.slice(2);

async function fill(): Promise<void> {
  const db = createDatabase({ dbPath: file });
  const store = new SqliteStore(db);
  for (let n = 0; n < 100; n += 1) {
    await store.put(['filled', what], `k${n}`, { n });
    await store.put(['shared'], `k${n % 10}`, { by: what, n });
  }
  db.close();
}

if (what === 'in a step' || what === 'anew') {
  await countedVisits(file, what, () => process.kill(process.pid, 'SIGKILL')).run('run', {});
} else {
  await fill();
}
