// `pnpm bench:agent-server [--quick] [--json]`: this server over a state file beside LangGraph's development server, the same
// graphs, the same requests, in turn, each a process of its own. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { round, table } from '../../core/bench/state/figures.ts';
import { ServerProcess } from '../test/support/ServerProcess.ts';
import { startReference } from '../test/support/startReference.ts';
import { type Figures, killedUnderStream, measure, type Sizes } from './measures.ts';

const { values: given } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const SIZES: Sizes = given.quick
  ? { waits: 20, streams: 20, threads: 500, runs: 200 }
  : { waits: 200, streams: 100, threads: 10_000, runs: 5000 };
const KILLS = given.quick ? 3 : 20;
const folder = mkdtempSync(join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-agent-server-'));
const load = [loadavg()[0] ?? Number.NaN];

async function ours(): Promise<Figures> {
  const server = new ServerProcess({ state: join(folder, 'state.sqlite'), world: join(folder, 'calls.txt') });
  await server.start();
  try {
    return await measure(server.url, server.pid, SIZES);
  } finally {
    await server.kill();
  }
}

async function theirs(): Promise<Figures> {
  const server = await startReference(folder);
  try {
    return await measure(server.url, server.pid, SIZES);
  } finally {
    await server.stop();
  }
}

const own = await ours();
const reference = await theirs();
const pauses = await killedUnderStream(folder, KILLS);
load.push(loadavg()[0] ?? Number.NaN);
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
const range = { least: round(Math.min(...load), 1), most: round(Math.max(...load), 1) };
if (given.json) {
  console.log(
    JSON.stringify({ machine, load: range, isQuick: given.quick, own, reference, pauses }, null, 2),
  );
} else {
  const row = (name: string, of: (figures: Figures) => number): readonly (string | number)[] => [
    name,
    round(of(own)),
    round(of(reference)),
  ];
  console.log(
    table(
      ['', 'devs', 'langgraph dev'],
      [
        row(`create and wait, one node, p50 of ${SIZES.waits} (ms)`, ({ waitMs }) => waitMs),
        row('first word of a model, p50 (ms)', ({ firstWordMs }) => firstWordMs),
        row(`${SIZES.streams} streams at once, until all have ended (ms)`, ({ streamsMs }) => streamsMs),
        row('streams that did not end well', ({ failedStreams }) => failedStreams),
        row(`a page of 10 of ${SIZES.threads} threads, by metadata, p50 (ms)`, ({ searchMs }) => searchMs),
        row('the same, p95 (ms)', ({ searchP95Ms }) => searchP95Ms),
        row(
          `memory, after ${SIZES.runs} runs more than after the first fifth (MB)`,
          ({ grownMb }) => grownMb,
        ),
      ],
    ),
  );
  console.log(
    `\nFrom kill -9 of the server, which is started again at once, to the next event of a stock stream (${KILLS} kills, the start of Node.js included): p50 ${round(pauses.p50, 0)} ms, p95 ${round(pauses.p95, 0)} ms, most ${round(pauses.most, 0)} ms.`,
  );
  console.log(`${machine.cores} × ${machine.cpu}, ${machine.node}, load ${range.least}–${range.most}`);
}
process.exitCode = own.failedStreams === 0 ? 0 : 1;
