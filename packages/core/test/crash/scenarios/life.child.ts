// One process of a scenario. Its argument is a `Life` in JSON. It kills itself before the statement or at the moment that `place`
// names. It prints a dot for each write if `tells` is set, and its result at the end.
import { writeSync } from 'node:fs';
import { createDatabase } from '../../../src/db/createDatabase.ts';
import { durable } from '../../../src/engine/app/durable.ts';
import { interceptStatements } from '../../support/interceptStatements.ts';
import { effectsInto, inMode, type Life } from './Life.ts';
import { Continued } from './Scenario.ts';
import { scenarioNamed } from './scenarios.ts';

const { what, run, dbPath, life, durability, told, place, tells } = JSON.parse(
  process.argv[2] ?? '{}',
) as Life;
const passes = (here: number | string): void => {
  if (here === place) process.kill(process.pid, 'SIGKILL');
};

const db = createDatabase({ dbPath });
let writes = 0;
interceptStatements(
  db,
  (work, { readonly }) => {
    if (readonly) return work();
    writes += 1;
    passes(writes);
    const result = work();
    if (tells === true) writeSync(1, '.');
    return result;
  },
  { controls: true },
);
const own = {
  db,
  durable: inMode(durable, durability),
  effect: effectsInto(dbPath, run, life),
  moment: passes,
};
const outcome = await scenarioNamed(what).start(own)(run, told);
const ended = outcome instanceof Continued ? { told: outcome.told } : { outcome };
writeSync(1, `\n${JSON.stringify(ended)}`);
db.close();
