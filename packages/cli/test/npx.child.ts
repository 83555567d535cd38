// Says when it is up, and when the npx that has started it has ended.
import { appendFileSync } from 'node:fs';
import { whenNpxEnds } from '../src/runProcess.ts';

const [said = ''] = process.argv.slice(2);
const staying = setInterval(() => undefined, 1000);
whenNpxEnds(process.ppid, () => {
  appendFileSync(said, 'npx has ended\n');
  clearInterval(staying);
});
appendFileSync(said, `${process.pid}\n`);
