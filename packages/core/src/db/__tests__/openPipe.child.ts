// Tries to open a state file for writing and for reading, and prints the code of each refusal. Argument: the path.
import { isDevsError } from '../../errors/DevsError.ts';
import { createDatabase, openReadOnly } from '../createDatabase.ts';

const [dbPath = ''] = process.argv.slice(2);

for (const open of [createDatabase, openReadOnly]) {
  try {
    open({ dbPath });
  } catch (error) {
    process.stdout.write(`${isDevsError(error) ? error.code : String(error)}\n`);
  }
}
