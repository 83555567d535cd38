// `stand file name ms`: one short run after another over a file that others use as well, for so long. Says `ready`, begins when it
// is told a line, and ends with what it has done.
import { once } from 'node:events';
import { timed } from './inTurn.ts';
import { openStand, STANDS } from './stands.ts';

export interface DriverSays {
  readonly runs: number;
  /** Of all of them. */
  readonly cpuMs: number;
}

const [name, file = '', prefix = '', ms = ''] = process.argv.slice(2);
const standName = STANDS.find((known) => known === name);
if (standName === undefined) throw new RangeError(`Expected ${STANDS.join(' or ')}, got ${name}.`);
const stand = openStand(standName, file, { callMs: 0 });
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const end = performance.now() + Number(ms);
let runs = 0;
const { cpuMs } = await timed(async () => {
  for (; performance.now() < end; runs += 1) await stand.run(`${prefix}-${runs}`);
});
stand.close();
process.stdin.destroy();
const says: DriverSays = { runs, cpuMs };
process.stdout.write(`${JSON.stringify(says)}\n`);
