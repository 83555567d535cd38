// `pnpm bench:cluster [--quick] [--json] [--only steps|waiting|takeover]`: runs in a cluster beside a local file, LangGraph's own
// saver for PostgreSQL and DBOS, interleaved in one process; runs that wait; what a kill costs. See docs/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, round, table } from '../../core/bench/state/figures.ts';
import { startPostgres } from '../test/support/startPostgres.ts';
import { bytesPerStep } from './cluster/bytesPerStep.ts';
import { KEEPERS, type KeeperName, startDbos } from './cluster/keepers.ts';
import { type Lap, race } from './cluster/race.ts';
import { takeovers } from './cluster/takeovers.ts';
import { waiting } from './cluster/waiting.ts';

const [quick, json] = ['--quick', '--json'].map((flag) => process.argv.includes(flag));
const only = process.argv[process.argv.indexOf('--only') + 1];
const wants = (part: string): boolean => !process.argv.includes('--only') || only === part;

const dir = mkdtempSync(join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-cluster-'));
const server = await startPostgres({ settings: { fsync: 'on', shared_buffers: '256MB' } });
const loads = [loadavg()[0] ?? Number.NaN];
const place = { url: server.url, dir };

const figuresOf = (laps: ReadonlyMap<KeeperName, readonly Lap[]>) =>
  KEEPERS.map((keeper) => {
    const own = laps.get(keeper) ?? [];
    const beside = laps.get('devs file, no fsync') ?? [];
    const ratios = own.map((lap, at) => lap.workerCpuMs / (beside[at]?.workerCpuMs ?? Number.NaN));
    return {
      keeper,
      workerCpuMs: round(median(own.map((lap) => lap.workerCpuMs))),
      toFile: round(median(ratios)),
      serverCpuMs: round(median(own.map((lap) => lap.serverCpuMs)), 3),
      perSecond: round(1000 / median(own.map((lap) => lap.ms)), 0),
    };
  });

async function steps() {
  const stopDbos = await startDbos(server.url);
  const [rounds, runs, length] = quick ? [3, 10, 30] : [10, 20, 60];
  const figures = [];
  for (const calls of [false, true]) {
    loads.push(loadavg()[0] ?? Number.NaN);
    const laps = await race({ steps: length, calls }, { ...place, rounds, runs });
    figures.push({ calls, keepers: figuresOf(laps) });
  }
  await stopDbos();
  return { figures, bytes: round(await bytesPerStep(place, length), 0) };
}

const said: Record<string, unknown> = {};
try {
  if (wants('steps')) said['steps'] = await steps();
  if (wants('waiting')) said['waiting'] = await waiting(place, quick ? [100, 1000] : [100, 1000, 10_000]);
  if (wants('takeover')) said['takeover'] = await takeovers(place, quick ? 5 : 40);
} finally {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
loads.push(loadavg()[0] ?? Number.NaN);

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
const load = { least: round(Math.min(...loads), 1), most: round(Math.max(...loads), 1) };
if (json) console.log(JSON.stringify({ machine, load, ...said }, null, 2));
else {
  const all = said as {
    readonly steps?: Awaited<ReturnType<typeof steps>>;
    readonly waiting?: Awaited<ReturnType<typeof waiting>>;
    readonly takeover?: Awaited<ReturnType<typeof takeovers>>;
  };
  for (const { calls, keepers } of all.steps?.figures ?? []) {
    console.log(`\nA super-step ${calls ? 'with one recorded call' : 'without a call'}\n`);
    const head = ['keeper', 'worker CPU ms', 'of a file', 'PostgreSQL CPU ms', 'a second, all runs'];
    console.log(
      table(
        head,
        keepers.map((each) => [each.keeper, each.workerCpuMs, each.toFile, each.serverCpuMs, each.perSecond]),
      ),
    );
  }
  if (all.steps) console.log(`\n${all.steps.bytes} bytes of changes per super-step with one recorded call`);
  if (all.waiting) {
    const head = ['runs that wait', 'KB each', 'page of gates ms', 'decision → claim p50 ms', 'p95 ms'];
    console.log(
      `\n${table(
        head,
        all.waiting.map((each) => [each.runs, each.kb, each.pageMs, each.claimMs, each.claimP95Ms]),
      )}`,
    );
  }
  if (all.takeover)
    console.log(
      `\nnext call elsewhere after kill -9: p50 ${all.takeover.p50Ms} ms, p95 ${all.takeover.p95Ms} ms, most ${all.takeover.mostMs} ms (${all.takeover.kills} kills)`,
    );
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load ${load.least} to ${load.most}`,
  );
}
process.exit(0);
