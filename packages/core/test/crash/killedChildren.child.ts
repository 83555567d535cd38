// Lives a run that has children, and kills itself at its n-th write. Arguments: the state file, a file for what its steps do,
// whether it is cancelled half way, n.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { dieAtWrite } from '../support/dieAtWrite.ts';
import { raise } from './childrenLife.ts';

const [, , dbPath = '', effects = '', cancel = 'false', dieAt = 'never'] = process.argv;

const db = createDatabase({ dbPath });
dieAtWrite(db, dieAt);
process.stdout.write(JSON.stringify(await raise(db, 'run', { effects, cancel: cancel === 'true' })));
