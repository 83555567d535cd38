import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, ownGraph } from './subjects.ts';
const keeper = (process.argv[2] ?? 'devs normal') as never;
const kind = process.argv[3] ?? 'pipeline';
const n = Number(process.argv[4] ?? 10);
const subject = kind === 'pipeline' ? pipeline(50) : ownGraph(100);
for (let i = 0; i < n; i += 1) {
  const p = await subject.prepare(keeper, mkdtempSync(join(tmpdir(), 'dp-')));
  const c = process.cpuUsage();
  const b = performance.now();
  await p.run();
  const u = process.cpuUsage(c);
  console.log((performance.now() - b).toFixed(0), 'cpu', ((u.user + u.system) / 1000 / subject.steps).toFixed(3), 'ms/step');
  p.close();
}
