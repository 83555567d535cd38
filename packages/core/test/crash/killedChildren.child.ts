// Lives a run that has children, and kills itself at its n-th write. Arguments: the state file, a file for what its steps do,
// whether it is cancelled half way, n.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { interceptStatements } from '../support/interceptStatements.ts';
import { raise } from './childrenLife.ts';

const [, , dbPath = '', effects = '', cancel = 'false', dieAt = 'never'] = process.argv;

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
process.stdout.write(JSON.stringify(await raise(db, 'run', { effects, cancel: cancel === 'true' })));
