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
  const app = durable(graph, { db, gates: { send: ({ text }) => text } });
  await app.run('like', { text: 'hello' });
  fill(db);
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

/** Copies of the run: a real one takes some milliseconds. */
function fill(db: ReturnType<typeof createDatabase>): void {
  db.transaction(() => {
    db.prepare(`
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${RUNS - 1})
      INSERT INTO threads (thread_id, project_id, graph_fingerprint, policies_json, status, created_at, updated_at)
      SELECT printf('mail-%06d', i), 'p', graph_fingerprint, policies_json, status, created_at + i, updated_at
      FROM n, threads WHERE thread_id = 'like'`).run();
    db.prepare(`
      INSERT INTO run_labels
      SELECT json_array('tenant', printf('t%d', rowid % 100)), created_at, thread_id FROM threads
      UNION ALL SELECT '["mail"]', created_at, thread_id FROM threads
      UNION ALL SELECT iif(rowid % 2 = 0, '["even",true]', '["even",false]'), created_at, thread_id FROM threads`).run();
    db.prepare(`
      INSERT INTO hitl_sessions (id, task_id, graph_state_json, suspended_at, kind, thread_id, question_json, artifact_hash)
      SELECT 's' || t.thread_id, 't', '{}', t.created_at, s.kind, t.thread_id, s.question_json, s.artifact_hash
      FROM threads AS t, hitl_sessions AS s WHERE t.thread_id <> 'like'`).run();
  })();
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
