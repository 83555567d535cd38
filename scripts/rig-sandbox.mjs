// What the built-in sandbox holds back: ways out, ways to decide a gate, processes, memory; and what it costs.
//
//   pnpm rig:sandbox              all of it
//   pnpm rig:sandbox escapes      some of: escapes gates survivors flood overhead
//
// Exit code 1 when something got out, 75 when bubblewrap does not run here and nothing was tried.

import { bubblewrapRuns } from '../packages/agents/src/sandbox/findSandbox.ts';
import { escapes, flood, gates, overhead, survivors } from '../packages/agents/test/rig/sandboxRig.ts';

const PARTS = {
  escapes,
  gates,
  survivors: async () => [await survivors(100)],
  flood: async () => [await flood(1024)],
  overhead: async () => [await overhead(100)],
};

const wanted = process.argv.slice(2);
const names = wanted.length === 0 ? Object.keys(PARTS) : wanted;
const unknown = names.find((name) => !(name in PARTS));
if (unknown !== undefined) {
  console.error(`There is no part ${JSON.stringify(unknown)}; there are ${Object.keys(PARTS).join(', ')}.`);
  process.exit(2);
}
if (!(await bubblewrapRuns())) {
  console.log(`Not run, because bubblewrap does not run here: ${names.join(', ')}.`);
  process.exit(75);
}
let failed = 0;
for (const name of names) {
  const proofs = await PARTS[name]();
  for (const { passed, name: what, found } of proofs)
    console.log(`${passed ? 'ok  ' : 'FAIL'}  ${what}: ${found}`);
  const bad = proofs.filter(({ passed }) => !passed).length;
  console.log(`${name}: ${proofs.length - bad} of ${proofs.length} hold\n`);
  failed += bad;
}
process.exitCode = Number(failed > 0);
