// Lives a run that waits, and kills itself at its n-th write. Arguments: the state file, a file for what its steps do, n.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { interceptStatements } from '../support/interceptStatements.ts';
import { live } from './waitsLife.ts';

const [, , dbPath = '', effects = '', dieAt = 'never'] = process.argv;

const db = createDatabase({ dbPath });
let writes = 0;
interceptStatements(
  db,
  (work, { readonly }) => {
    writes += readonly ? 0 : 1;
    if (writes === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
    return work();
  },
  { controls: true },
);
process.stdout.write(JSON.stringify(await live(db, 'run', effects)));
