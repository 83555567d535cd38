import { randomBytes } from 'node:crypto';
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { note } from '../chaos/ledger.ts';
import { lifeApp } from '../chaos/life.ts';
import { freezeAt } from './freezeAt.ts';
import { POINTS } from './points.ts';

const { pid } = process;
const [url = '', ledger = '', dir = '', schema = '', name = ''] = process.argv.slice(2);

process.stdin.once('end', () => process.exit()).resume(); // whoever has started it is gone

const freeze = (): void => {
  note(ledger, { is: 'frozen', pid });
  process.kill(pid, 'SIGSTOP');
};
const point = POINTS.find((each) => each.name === name);
if (point !== undefined) freezeAt(point, freeze);

let calls = 0;
const runs = postgres({ url, dir, schema });
const app = lifeApp(runs, async (run, callName) => {
  const nonce = randomBytes(10_000).toString('hex'); // its changes are enough for a base
  note(ledger, { is: 'begun', at: Date.now(), pid, run, name: callName, nonce });
  calls += 1;
  if (point?.sql === null && calls === point.nth) freeze();
  if (point === undefined) await new Promise(() => undefined);
  return nonce;
});
await Worker.start(runs, {
  drivers: [app],
  slots: 2,
  onEvent: (event) => {
    if (event.is === 'driving' || event.is === 'lost')
      note(ledger, { is: event.is, pid, run: event.threadId });
  },
});
process.stdout.write('ready\n');
