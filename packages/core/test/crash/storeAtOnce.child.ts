// Puts items into the store of a state file as fast as it can. Arguments: the state file, who puts them.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteStore } from '../../src/langgraph.ts';

const [file = '', who = ''] = process.argv.slice(2);
const db = createDatabase({ dbPath: file });
const store = new SqliteStore(db);
for (let n = 0; n < 100; n += 1) {
  await store.put(['filled', who], `k${n}`, { n });
  await store.put(['shared'], `k${n % 10}`, { by: who, n });
}
db.close();
