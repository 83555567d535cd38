// `pnpm bench:crowd [--minutes N] [--runs N] [--json]`: many runs at once in one process over one file, for minutes. Each super-step
// makes a recorded call that takes 5 to 50 ms; a run that ends is followed by the next. Says what happened in each tenth of the
// time, and ends with code 1 where a call was made twice, a result was lost, or a run did not end. See docs/internals/benchmarks.md.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { createDatabase } from '../src/db/createDatabase.ts';
import { durable } from '../src/engine/app/durable.ts';
import { internalsOf } from '../src/engine/file/appInternals.ts';
import { step } from '../src/engine/node/step.ts';
import { MB, median, percentile, round, table } from './state/figures.ts';

const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    runs: { type: 'string', default: '100' },
    json: { type: 'boolean', default: false },
  },
});
const [minutes, runs] = [Number(given.minutes), Number(given.runs)];
if (!(minutes > 0 && Number.isSafeInteger(runs) && runs > 0))
  throw new RangeError('Expected --minutes and --runs as positive numbers.');

const STEPS = 20;
const PARTS = 10;
const ANSWER = 'The answer of a model, as long as a short paragraph usually is. '.repeat(16);
const folder = mkdtempSync(join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-crowd-'));
const file = join(folder, 'state.sqlite');
const db = createDatabase({ dbPath: file });

/** How often each call was made, by run and step. */
const made = new Map<string, number>();
const times: number[] = [];

const State = Annotation.Root({
  id: Annotation<string>(),
  at: Annotation<number>(),
  answer: Annotation<string>(),
});
const graph = new StateGraph(State)
  .addNode('work', async ({ id, at }) => {
    const since = performance.now();
    let tookMs = 0;
    const answer = await step('model', async () => {
      const call = `${id}/${at}`;
      made.set(call, (made.get(call) ?? 0) + 1);
      const began = performance.now();
      await sleep(5 + Math.random() * 45);
      tookMs = performance.now() - began;
      return ANSWER;
    });
    times.push(performance.now() - since - tookMs);
    return { at: at + 1, answer };
  })
  .addEdge(START, 'work')
  .addConditionalEdges('work', ({ at }) => (at < STEPS ? 'work' : '__end__'));
const app = durable(graph, { db });

interface Part {
  readonly minute: number;
  readonly perSecond: number;
  /** Of a recorded call, without the call, ms. */
  readonly medianMs: number;
  readonly p99Ms: number;
  /** Longest stretches in which the loop did not turn, ms. */
  readonly loopP99Ms: number;
  readonly loopMostMs: number;
  readonly heapMb: number;
  readonly fileMb: number;
}

const parts: Part[] = [];
const faults: string[] = [];
const ids: string[] = [];
const end = performance.now() + minutes * 60_000;

async function follow(place: number): Promise<void> {
  for (let nth = 0; performance.now() < end; nth += 1) {
    const id = `run-${place}-${nth}`;
    ids.push(id);
    const { status, reason } = await app.run(id, { id, at: 0 });
    if (status !== 'completed') faults.push(`${id}: ${status}: ${reason}`);
  }
}

async function watch(): Promise<void> {
  const partMs = (minutes * 60_000) / PARTS;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  for (let part = 1; part <= PARTS; part += 1) {
    times.length = 0;
    delay.reset();
    delay.enable();
    await sleep(partMs);
    delay.disable();
    parts.push({
      minute: round((part * minutes) / PARTS),
      perSecond: round(times.length / (partMs / 1000), 0),
      ...{ medianMs: round(median(times)), p99Ms: round(percentile(times, 0.99)) },
      ...{ loopP99Ms: round(delay.percentile(99) / 1e6), loopMostMs: round(delay.max / 1e6) },
      heapMb: round(process.memoryUsage().heapUsed / MB, 0),
      fileMb: round(statSync(file).size / MB, 0),
    });
  }
}

const load = [loadavg()[0] ?? Number.NaN];
await Promise.all([watch(), ...Array.from({ length: runs }, (_, place) => follow(place))]);
load.push(loadavg()[0] ?? Number.NaN);
for (const id of ids) {
  const recorded = internalsOf(app)
    .store.steps.listForThread(id)
    .filter(({ state }) => state === 'done').length;
  if (recorded !== STEPS) faults.push(`${id}: ${recorded} of ${STEPS} results are recorded`);
}
for (const [call, count] of made) if (count !== 1) faults.push(`${call} was made ${count} times`);
app.close();
db.close();
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
const range = { least: round(Math.min(...load), 1), most: round(Math.max(...load), 1) };
const ended = { runs: ids.length, calls: made.size, faults: faults.length };
if (given.json) console.log(JSON.stringify({ machine, load: range, minutes, runs, ended, parts }, null, 2));
else {
  const head = [
    'until minute',
    'super-steps a second',
    'recorded call, median ms',
    'p99',
    'loop p99 ms',
    'most',
    'heap MB',
    'file MB',
  ];
  console.log(
    table(
      head,
      parts.map((part) => Object.values(part) as number[]),
    ),
  );
  console.log(
    `\n${ended.runs} runs, ${ended.calls} calls, ${ended.faults} faults; ${machine.cpu}, Node ${machine.node}, load ${range.least} to ${range.most}`,
  );
}
for (const fault of faults.slice(0, 20)) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
