// `pnpm bench:cluster [--quick] [--json] [--minutes 15] [--only starts|steps|runs|saver|waiting|takeover]`: runs in a cluster beside a local file, LangGraph's
// own saver for PostgreSQL and DBOS, interleaved in one process; runs that wait; what a kill costs. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { round } from '../../core/bench/state/figures.ts';
import { startPostgres } from '../test/support/startPostgres.ts';
import { besideSaver } from './cluster/besideSaver.ts';
import { bytesPerStep } from './cluster/bytesPerStep.ts';
import { figuresOf, type KeeperFigures, perRuns } from './cluster/figures.ts';
import { startDbos } from './cluster/keepers.ts';
import { race } from './cluster/race.ts';
import { type Said, sayAll } from './cluster/sayAll.ts';
import { starts } from './cluster/starts.ts';
import { takeovers } from './cluster/takeovers.ts';
import { waiting } from './cluster/waiting.ts';

const PARTS = ['starts', 'steps', 'runs', 'saver', 'waiting', 'takeover'] as const;
type Part = (typeof PARTS)[number];

/** Of the whole time. A part that runs out of time has fewer rounds. */
const SHARES: Readonly<Record<Part, number>> = {
  starts: 1,
  steps: 6,
  runs: 4,
  saver: 2,
  waiting: 3,
  takeover: 1,
};

const { quick, json, only, minutes } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    minutes: { type: 'string', default: '15' },
  },
}).values;
if (!(Number(minutes) > 0)) throw new RangeError(`--minutes: expected a number above 0, got ${minutes}.`);
if (only !== undefined && !(PARTS as readonly string[]).includes(only))
  throw new RangeError(`--only: expected ${PARTS.join(', ')}, got ${only}.`);
const wants = (part: Part): boolean => only === undefined || only === part;
const wanted = PARTS.filter(wants);
/** On stderr, because `--json` prints one document. */
const tell = (line: string): void => console.error(line);

/** Until when a part may begin something. */
const untilOf = (part: Part): number =>
  performance.now() +
  (Number(minutes) * 60_000 * SHARES[part]) / wanted.reduce((sum, each) => sum + SHARES[each], 0);

tell(`at most about ${minutes} minutes:`);
for (const part of wanted)
  tell(`  ${part}: ${((untilOf(part) - performance.now()) / 60_000).toFixed(1)} min`);

const dir = mkdtempSync(join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-cluster-'));
const server = await startPostgres({ settings: { fsync: 'on', shared_buffers: '256MB' } });
const loads = [loadavg()[0] ?? Number.NaN];
const place = { url: server.url, dir };

async function steps() {
  const [rounds, runs, length] = quick ? [3, 20, 30] : [7, 20, 60];
  const figures: { calls: boolean; keepers: readonly KeeperFigures[] }[] = [];
  const end = untilOf('steps');
  for (const calls of [false, true]) {
    const until = calls ? end : (performance.now() + end) / 2;
    loads.push(loadavg()[0] ?? Number.NaN);
    const laps = await race({ steps: length, calls }, { ...place, rounds, runs, until, tell });
    figures.push({ calls, keepers: figuresOf(laps) });
  }
  return { length, figures, bytes: round(await bytesPerStep(place, length), 0) };
}

let said: Said = {};
try {
  const stopDbos = wants('steps') || wants('runs') ? await startDbos(server.url) : async () => undefined;
  if (wants('starts')) said = { ...said, starts: await starts(place, { rounds: quick ? 3 : 9, tell }) };
  if (wants('steps')) said = { ...said, steps: await steps() };
  if (wants('runs'))
    said = {
      ...said,
      runs: await perRuns(place, quick ? [1, 10] : [1, 3, 10, 30], { until: untilOf('runs'), tell }),
    };
  await stopDbos();
  if (wants('saver'))
    said = {
      ...said,
      saver: await besideSaver(place, { rounds: quick ? 5 : 9, until: untilOf('saver'), tell }),
    };
  if (wants('waiting'))
    said = {
      ...said,
      waiting: await waiting(place, quick ? [100, 1000] : [100, 1000, 10_000], {
        until: untilOf('waiting'),
        tell,
      }),
    };
  if (wants('takeover'))
    said = {
      ...said,
      takeover: await takeovers(place, quick ? 5 : 40, { until: untilOf('takeover'), tell }),
    };
} finally {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
loads.push(loadavg()[0] ?? Number.NaN);

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
const load = { least: round(Math.min(...loads), 1), most: round(Math.max(...loads), 1) };
if (json) console.log(JSON.stringify({ machine, load, ...said }, null, 2));
else {
  sayAll(said);
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load ${load.least} to ${load.most}`,
  );
}
process.exit(0);
