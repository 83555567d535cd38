// `stand file name ms`: one short run after another over a file that others use as well, for so long. Says `ready`, begins when it
// is told a line, and ends with how many runs it has done.
import { once } from 'node:events';
import { openStand, STANDS } from './stands.ts';

const [name, file = '', prefix = '', ms = ''] = process.argv.slice(2);
const standName = STANDS.find((known) => known === name);
if (standName === undefined) throw new RangeError(`Expected ${STANDS.join(' or ')}, got ${name}.`);
const stand = openStand(standName, file, { callMs: 0 });
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const end = performance.now() + Number(ms);
let runs = 0;
for (; performance.now() < end; runs += 1) await stand.run(`${prefix}-${runs}`);
stand.close();
process.stdin.destroy();
process.stdout.write(`${runs}\n`);
