// Plays a role in the run of a folder. Argument: Role as JSON.
// Prints "ready" once loaded (from here on a kill counts), then one line of JSON: what it came to.
import { play, type Role } from './play.ts';

process.stdout.write('ready\n');
const result = await play(JSON.parse(process.argv[2] ?? '{}') as Role);
process.stdout.write(`${JSON.stringify(result)}\n`);
