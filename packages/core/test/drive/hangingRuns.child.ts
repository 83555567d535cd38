// Drives runs that hang, one after the other, and prints which has begun and how each was left. Arguments: the state file, a place,
// a name, how many.
import { hangingApps, type Place } from './hangingRuns.ts';

const [, , file = '', place = 'node', name = '', count = '1'] = process.argv;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const apps = hangingApps(file, (id) => say(`begun ${id}`));
const app = apps.of(place as Place);
async function streamed(id: string): Promise<void> {
  for await (const { mode } of app.stream(id, {})) if (mode === 'end') say(`end ${id}`);
}
for (let nth = 0; nth < Number(count); nth += 1) {
  const id = `${name}-${nth}`;
  if (place === 'stream') await streamed(id);
  else {
    const { status } = await app.run(id, {});
    say(`${status} ${id}`);
  }
}
process.exit(0); // what is deaf would hold it
