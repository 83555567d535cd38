// `pnpm bench:find [--runs 10000]`: lists of runs and gates by metadata, tags and ids. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { createDatabase } from '../src/db/createDatabase.ts';
import { durable } from '../src/engine/app/durable.ts';
import type { RunFilter } from '../src/engine/runs/Runs.ts';
import { median, percentile, table } from './state/figures.ts';

const given = process.argv.indexOf('--runs');
const RUNS = given === -1 ? 10_000 : Number(process.argv[given + 1]);
const CALLS = 200;

const State = Annotation.Root({ text: Annotation<string>() });
const graph = new StateGraph(State)
  .addNode('send', () => ({ text: 'sent' }))
  .addEdge(START, 'send')
  .addEdge('send', END);

const folder = mkdtempSync(join(tmpdir(), 'devs-bench-'));
try {
  const db = createDatabase({ dbPath: join(folder, 'state.sqlite') });
  db.pragma('synchronous = OFF'); // only while the file is filled
  const app = durable(graph, { db, gates: { send: ({ text }) => text } });
  for (let run = 0; run < RUNS; run += 1) {
    const metadata = { tenant: `t${run % 100}`, even: run % 2 === 0 };
    await app.run(`mail-${String(run).padStart(6, '0')}`, { text: 'hello' }, { metadata, tags: ['mail'] });
  }
  const filters: Readonly<Record<string, RunFilter>> = {
    'one of 100 tenants': { metadata: { tenant: 't7' } },
    'a tenant, and a tag that all have': { metadata: { tenant: 't7' }, tags: ['mail'] },
    'half of the runs': { metadata: { even: true } },
    'a tag that all have, and a prefix of 100': { tags: ['mail'], idPrefix: 'mail-0012' },
    'two that exclude each other': { metadata: { even: true, tenant: 't7' } },
    'a tag that none has': { tags: ['fax'] },
  };
  const rows: string[][] = [];
  for (const [name, filter] of Object.entries(filters)) {
    const listed = await timesOf(() => app.list(filter));
    const gates = await timesOf(() => app.openGates(filter));
    rows.push([
      name,
      ...[listed, gates].flatMap((ms) => [median(ms).toFixed(2), percentile(ms, 95).toFixed(2)]),
    ]);
  }
  console.log(`${RUNS} runs that wait at a gate, pages of 50; ms, ${CALLS} calls each`);
  console.log(table(['filter', 'list', 'p95', 'openGates', 'p95'], rows));
  db.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function timesOf(call: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let each = 0; each < CALLS; each += 1) {
    const begun = performance.now();
    await call();
    times.push(performance.now() - begun);
  }
  return times;
}
