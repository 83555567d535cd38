// Does a deed to a run and dies at its nth statement; tells how many there were where it lives.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { interceptStatements } from '../support/interceptStatements.ts';
import { DEEDS, type Deed, deedsApp } from './deeds.ts';

const [dbPath = '', deed = 'fork', dyingAt = '-1'] = process.argv.slice(2);
const db = createDatabase({ dbPath });
let writes = Number.NaN; // not counted while the file is opened
interceptStatements(
  db,
  (work, { readonly }) => {
    if (!readonly) writes += 1;
    if (writes === Number(dyingAt)) process.kill(process.pid, 'SIGKILL');
    return work();
  },
  { controls: true },
);
const app = deedsApp(db);
writes = 0;
await DEEDS[deed as Deed](app);
process.stdout.write(String(writes));
