// `subject keeper size`: runs it in this process and prints what it holds, in bytes, after a collection: before the
// run, and at the place where it holds the most.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Keeper, SUBJECTS, type SubjectName } from './subjects.ts';

const [subject = 'long run', keeper = 'devs', size = '100'] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), 'devs-bench-'));

function settled(): { readonly held: number; readonly rss: number } {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { held: heapUsed + external, rss };
}

const run = SUBJECTS[subject as SubjectName];
// What is loaded and compiled on first use is no growth.
await run(keeper as Keeper, 2, join(dir, 'warm-up.sqlite'), () => {});
const before = settled();
let after = before;
await run(keeper as Keeper, Number(size), join(dir, 'state.sqlite'), () => {
  after = settled();
});
process.stdout.write(`${JSON.stringify({ before, after })}\n`);
rmSync(dir, { recursive: true });
