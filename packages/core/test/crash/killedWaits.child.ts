// Lives a run that waits, and kills itself at its n-th write. Arguments: the state file, a file for what its steps do, n.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { dieAtWrite } from '../support/dieAtWrite.ts';
import { live } from './waitsLife.ts';

const [, , dbPath = '', effects = '', dieAt = 'never'] = process.argv;

const db = createDatabase({ dbPath });
dieAtWrite(db, dieAt);
process.stdout.write(JSON.stringify(await live(db, 'run', effects)));
