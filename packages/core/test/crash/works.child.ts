// Works a state file until SIGTERM. Arguments: the state file, a file of effects. Prints a line once it works.
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { countingApp } from './countingApp.ts';

const [, , file = '', effects = ''] = process.argv;
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
const app = countingApp(file, async (id, name) => {
  appendFileSync(effects, `begun ${id} ${name}\n`);
  await setTimeout(5);
  appendFileSync(effects, `${process.pid} ${id} ${name}\n`);
});
process.stdout.write('works\n');
await app.work({ concurrency: 8, signal: stopping.signal });
await app.close();
