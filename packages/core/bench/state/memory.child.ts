// Measures the memory one contender keeps: a process of its own, because savers in one process share a heap.
// Prints the growth, in bytes, of external memory and resident set from step 100 to the end, after a collection each.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContenderName, openContender } from './contenders.ts';
import { appending, changing, graphOf } from './workloads.ts';

const WARM_UP = 100;

const [name = 'devs full', kind = 'changing', steps = '1000'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'devs-bench-'));
const contender = openContender(name as ContenderName, folder);
const workload = kind === 'changing' ? changing(Number(steps)) : appending(Number(steps), 'text');

function settled(): { readonly external: number; readonly rss: number } {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { external, rss } = process.memoryUsage();
  return { external, rss };
}

let before = settled();
const graph = graphOf(workload, contender.saver, async ({ step }, update) => {
  if (step === WARM_UP) before = settled();
  return update();
});
await graph.invoke(workload.input(), {
  configurable: { thread_id: 'bench' },
  durability: 'sync',
  recursionLimit: workload.steps + 10,
});
const after = settled();
const growth = { external: after.external - before.external, rss: after.rss - before.rss };
process.stdout.write(`${JSON.stringify(growth)}\n`);
contender.close();
rmSync(folder, { recursive: true });
