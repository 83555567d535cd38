// Drives programs side by side: killed.child.ts PLACES, a JSON list of [topic, name, folder, calls].
// Each of them stops at a call that was made and never returns. When all have, the process is killed.
import { driveDurably } from './drive.ts';
import { programs } from './programs.ts';

const places = JSON.parse(process.argv[2] ?? '[]') as [string, string, string, number][];
let alive = places.length;

for (const [topic, name, dir, diesAfter] of places) {
  const program = programs[topic]?.[name];
  if (program === undefined) throw new TypeError(`There is no program "${name}".`);
  const onDeath = (): void => {
    alive -= 1;
    if (alive === 0) process.kill(process.pid, 'SIGKILL');
  };
  void driveDurably(program, dir, { diesAfter, onDeath }).then(() => {
    throw new Error(`"${name}" ended before its call ${diesAfter}.`);
  });
}
