// Drives what is due in a state file until nothing is, and prints which runs it drove. Arguments: the state file, a file
// whose existence starts it, the hour.
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { napping } from './napping.ts';

const [, , file = '', start = '', now = ''] = process.argv;
const app = napping(file, () => Number(now));
process.stdout.write('ready\n');
for (let looks = 0; looks < 10_000 && !existsSync(start); looks += 1) await setTimeout(2); // whoever starts it may be gone
const driven: string[] = [];
for (let looks = 0; looks < 3; looks += 1) {
  const due = await app.runDue();
  driven.push(...due.driven.map(({ id, status }) => `${id} ${status}`));
}
app.close();
process.stdout.write(JSON.stringify(driven));
