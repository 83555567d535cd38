// `pnpm bench:rooms [--list]`: how many source files of the engine a visit of a node enters that makes one recorded call. A count,
// the same on every machine. See docs/benchmarks.md.
import { roomsOfVisits } from './rooms/roomsOf.ts';

const VISITS = 12;

const [first, ...others] = await roomsOfVisits(VISITS);
// What falls into one visit and not into another is a timer's, or another run's.
const rooms = [...(first ?? [])].filter(([file]) => others.every((calls) => calls.has(file)));
const calls = rooms.reduce((sum, [, each]) => sum + each, 0);

if (process.argv.includes('--list'))
  for (const [file, each] of rooms.toSorted()) console.log(`${String(each).padStart(5)}  ${file}`);
console.log(`a visit with one recorded step enters ${rooms.length} files of the engine, in ${calls} calls`);
