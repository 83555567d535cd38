// `pnpm bench:rooms [--list]`: how many source files of the engine a visit of a node enters. A count, the same on every machine. See
// docs/internals/benchmarks.md.
import { type Looked, roomsOf } from './rooms/roomsOf.ts';
import { table } from './state/figures.ts';

const VISITS = 12;

const LOOKED: readonly (readonly [string, Looked])[] = [
  ['a visit, from its entry to its exit', { from: 'visit', withStep: false }],
  ['the same with one recorded step', { from: 'visit', withStep: true }],
  ['with a step, and all until the next node works', { from: 'round', withStep: true }],
];

const rows = [];
for (const [what, looked] of LOOKED) {
  const rooms = await roomsOf(looked, VISITS);
  const calls = [...rooms.values()].reduce((sum, each) => sum + each, 0);
  rows.push([what, rooms.size, calls]);
  if (!process.argv.includes('--list')) continue;
  console.log(`\n${what}:`);
  for (const [file, each] of [...rooms].toSorted()) console.log(`${String(each).padStart(5)}  ${file}`);
}
console.log(table(['', 'files', 'calls'], rows));
