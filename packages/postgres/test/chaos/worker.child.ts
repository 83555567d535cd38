import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/Worker.ts';
import { note } from './ledger.ts';
import { lifeApp } from './life.ts';

const { pid } = process;
const [url = '', ledger = '', dir = '', slots = '4', callMs = '10'] = process.argv.slice(2);

process.stdin.once('end', () => process.exit()); // whoever has started it is gone
await once(process.stdin, 'data');

const runs = postgres({ url, dir });
const app = lifeApp(runs, async (run, name) => {
  const nonce = randomUUID();
  note(ledger, { is: 'begun', at: Date.now(), pid, run, name, nonce });
  await sleep(Math.random() * 2 * Number(callMs));
  return nonce;
});
const worker = await Worker.start(runs, {
  drivers: [app],
  slots: Number(slots),
  onEvent: (event) => {
    if (event.is === 'driving' || event.is === 'lost') note(ledger, { is: event.is, pid, run: event.runId });
    if (event.is === 'failed') process.stderr.write(`${event.runId}: ${String(event.error)}\n`);
  },
});
process.stdout.write('ready\n');
const end = async (): Promise<void> => {
  await worker.stop({ drainMs: 5000 });
  await runs.close();
  process.exit(0);
};
process.once('SIGTERM', () => void end());
