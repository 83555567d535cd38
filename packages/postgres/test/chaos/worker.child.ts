import { once } from 'node:events';
import { postgres } from '../../src/postgres.ts';
import { lifeWorker } from './lifeWorker.ts';
import { skewClock } from './skewClock.ts';

const [url = '', ledger = '', dir = '', slots = '4', callMs = '10', directUrl = url, skewMs = '0'] =
  process.argv.slice(2);

process.stdin.once('end', () => process.exit()); // whoever has started it is gone
await once(process.stdin, 'data');

skewClock(Number(skewMs));
const runs = postgres({ url, directUrl, dir });
const { worker } = await lifeWorker(runs, { ledger, slots: Number(slots), callMs: Number(callMs) });
process.stdout.write('ready\n');
const end = async (): Promise<void> => {
  await worker.stop({ drainMs: 5000 });
  await runs.close();
  process.exit(0);
};
process.once('SIGTERM', () => void end());
