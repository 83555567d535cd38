// A worker that drives good runs, and such as end its process: `poison-exit…`, `poison-abort…`, `poison-memory…`.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { note } from './ledger.ts';
import { workApp } from './workApp.ts';

const [url = '', ledger = '', dir = '', slots = '4', callMs = '10'] = process.argv.slice(2);
const { pid } = process;

async function act(run: string, node: string): Promise<void> {
  note(ledger, { is: 'begun', at: Date.now(), pid, run, name: node, nonce: '' });
  await sleep(Number(callMs));
  if (run.startsWith('poison-exit')) process.exit(1);
  if (run.startsWith('poison-abort')) process.abort();
  if (run.startsWith('poison-memory')) process.kill(pid, 'SIGKILL'); // as a kernel that has no more of it
}

process.stdin.once('end', () => process.exit()); // whoever has started it is gone
await once(process.stdin, 'data');

const runs = postgres({ url, dir });
const app = workApp(runs, act);
await Worker.start(runs, { drivers: [app], slots: Number(slots) });
process.stdout.write('ready\n');
process.once('SIGTERM', () => process.exit(0));
