// Cancels a run at a time, in milliseconds since the Unix epoch. Arguments: the state file, a place, the run, the time.
import { setTimeout as sleep } from 'node:timers/promises';
import { hangingApps, type Place } from './hangingRuns.ts';

const [, , file = '', place = 'node', id = '', at = '0'] = process.argv;
const apps = hangingApps(file, () => {});
process.stdout.write('ready\n');
await sleep(Math.max(0, Number(at) - Date.now()));
await apps.of(place as Place).cancel(id);
process.stdout.write('done\n');
