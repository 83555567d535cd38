import { once } from 'node:events';
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { stepsDriver } from '../support/stepsDriver.ts';

const [url = '', , dir = '', slots = '4'] = process.argv.slice(2);

process.stdin.once('end', () => process.exit()); // whoever has started it is gone
await once(process.stdin, 'data');
await Worker.start(postgres({ url, dir }), { drivers: [stepsDriver()], slots: Number(slots) });
process.stdout.write('ready\n');
