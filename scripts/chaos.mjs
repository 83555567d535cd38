// Kills drivers with -9 at random moments and judges what is left after every one: the pipeline over two kinds of
// workspace, and two graphs of one's own; 60 % and 40 % of the kills.
//
//   pnpm chaos                     100 kills
//   pnpm chaos --kills 1000        as many as wanted
//   pnpm chaos --review --kills 50 runs whose code is reviewed after every task or epic, and sent back once
//   pnpm chaos --seed 42           the scenarios, moments and latencies of that seed; where a kill falls may differ
//   pnpm chaos --durability sync   own graphs of that mode alone, sync or async
//   pnpm chaos --chains 2          runs at the same time; 3 without it
//   pnpm chaos --cluster           workers of a cluster on PostgreSQL, killed, frozen, with clocks that are wrong by 20 minutes,
//                                  two of three through a pooler; PostgreSQL as the power goes out, and as it takes no changes;
//                                  then good runs beside poisonous ones, failovers between two claims of a run, and
//                                  standbys that take over without the commits of six seconds
//   pnpm chaos --cluster --only poison        one of kills, poison, failovers, promotions; --times how often: 3, 10, 10 without it
//   pnpm chaos --json              the report as JSON on stdout, progress on stderr
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runChaos } from '../packages/agents/test/chaos/runChaos.ts';
import { REVIEWERS } from '../packages/agents/test/chaos/scenarios.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    chains: { type: 'string', default: '3' },
    durability: { type: 'string' },
    review: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    only: { type: 'string' },
    times: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
});

function wholeNumber(name, least) {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= least) return number;
  process.stderr.write(
    `--${name}: expected a whole number of at least ${least}, got ${JSON.stringify(values[name])}\n`,
  );
  process.exit(2);
}

if (values.durability !== undefined && !['sync', 'async'].includes(values.durability)) {
  process.stderr.write(`--durability: expected sync or async, got ${JSON.stringify(values.durability)}\n`);
  process.exit(2);
}
const kills = wholeNumber('kills', 1);
const seed = wholeNumber('seed', 0);
const chains = wholeNumber('chains', 1);
const pipeline = values.review ? kills : Math.ceil(kills * 0.6);

const startedAt = performance.now();
const seconds = () => Math.round((performance.now() - startedAt) / 1000);

let shown = 0;
function showProgress(done) {
  if (done === shown || (done % 10 !== 0 && !process.stderr.isTTY)) return;
  shown = done;
  process.stderr.write(
    process.stderr.isTTY
      ? `\r${done} of ${kills} kills, ${seconds()} s `
      : `${done} of ${kills} kills, ${seconds()} s\n`,
  );
}

const CLUSTER = { kills: onKills, poison: onPoison, failovers: onFailovers, promotions: onPromotions };

async function onCluster() {
  const names = values.only === undefined ? Object.keys(CLUSTER) : [values.only];
  const unknown = names.find((name) => !Object.hasOwn(CLUSTER, name));
  if (unknown !== undefined) {
    process.stderr.write(`--only: expected one of ${Object.keys(CLUSTER).join(', ')}, got ${unknown}\n`);
    process.exit(2);
  }
  let violations = 0;
  for (const name of names) violations += await CLUSTER[name]();
  process.exit(violations === 0 ? 0 : 1);
}

/** As JSON or as lines; how many violations there are. */
function tell(report, lines) {
  if (values.json) console.log(JSON.stringify({ ...report, seconds: seconds() }, null, 2));
  else {
    for (const [name, value] of lines) console.log(`${name.padEnd(27)}${value}`);
    console.log(`violations                 ${report.violations.length}`);
    for (const violation of report.violations) console.log(`  ${violation}`);
    console.log(`took                       ${seconds()} s`);
  }
  return report.violations.length;
}

const timesOr = (usual) => wholeNumber('times', 0) || usual;

async function onPoison() {
  const { runPoison } = await import('../packages/postgres/test/chaos/runPoison.ts');
  const rounds = timesOr(3);
  process.stderr.write(`chaos: ${rounds} runs that end every process that drives them\n`);
  const report = await runPoison({ rounds });
  return tell(report, [
    ['poisonous runs', report.rounds],
    ['processes that ended', `${report.deaths.join(', ')} for each`],
    ['good runs beside them', report.goodRuns],
    ['  the last one ended after', `${report.goodMs} ms at most`],
    ['dead letter after', `${report.letterMs} ms at most`],
  ]);
}

async function onFailovers() {
  const { runFailovers } = await import('../packages/postgres/test/chaos/betweenClaims.ts');
  const failovers = timesOr(10);
  process.stderr.write(`chaos: ${failovers} failovers between two claims\n`);
  const report = await runFailovers(failovers);
  return tell(report, [
    ['failovers', report.failovers],
    ['runs', `${report.runs}, of these ${report.sameProcess} claimed twice by one process`],
    ['until the last run ended', `${report.longestMs} ms at most`],
  ]);
}

const LOST_MS = 6000;

async function onPromotions() {
  const { runPromotions } = await import('../packages/postgres/test/chaos/promote.ts');
  const times = timesOr(10);
  process.stderr.write(`chaos: ${times} standbys without the commits of ${LOST_MS / 1000} s\n`);
  const report = await runPromotions(times, LOST_MS);
  return tell(report, [
    ['promotions', report.promotions],
    ['runs', report.runs],
    ['calls that were lost', report.lostCalls],
    ['until the last run ended', `${report.longestMs} ms at most`],
  ]);
}

async function onKills() {
  const { runClusterChaos } = await import('../packages/postgres/test/chaos/runClusterChaos.ts');
  process.stderr.write(`chaos: ${kills} kills of workers\n`);
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort()); // with a report of what there is
  const report = await runClusterChaos({ kills, onProgress: showProgress, signal: stopping.signal });
  if (process.stderr.isTTY) process.stderr.write('\n');
  if (values.json) console.log(JSON.stringify({ ...report, seconds: seconds() }, null, 2));
  else {
    console.log(`kills of a live worker     ${report.kills}`);
    console.log(`taken over                 ${report.takenOver}`);
    console.log(`frozen until taken over    ${report.freezes}`);
    console.log(`restarts of PostgreSQL     ${report.restarts}`);
    console.log(`times it took no changes   ${report.readOnly}`);
    console.log(`transactions in a pooler   ${report.pooled}`);
    console.log(`runs                       ${report.runs}`);
    console.log(`calls                      ${report.begun}, of these ${report.again} again`);
    console.log(`violations                 ${report.violations.length}`);
    for (const violation of report.violations) console.log(`  ${violation}`);
    if (report.ledger !== null) console.log(`what happened              ${report.ledger}`);
    if (report.failures !== '') console.log(`tried again after\n${report.failures}`);
    console.log(`took                       ${seconds()} s`);
  }
  return report.violations.length;
}

const histogram = (counts) =>
  Object.entries(counts)
    .map(([repeats, times]) => `${times} × ${repeats}`)
    .join(', ');

if (values.cluster) await onCluster();

process.stderr.write(`chaos: ${kills} kills, seed ${seed}\n`);
const report = await runChaos({
  kills: { pipeline, ownGraph: kills - pipeline },
  ...(values.durability !== undefined && { durability: values.durability }),
  ...(values.review && { pipelines: REVIEWERS, share: 0.5 }),
  seed,
  chains,
  onProgress: showProgress,
});
if (process.stderr.isTTY) process.stderr.write('\n');

if (values.json) console.log(JSON.stringify({ ...report, seconds: seconds() }, null, 2));
else {
  console.log(`seed                       ${report.seed}`);
  console.log(
    `kills of a live driver     ${report.kills.pipeline} pipeline, ${report.kills.ownGraph} own graphs`,
  );
  console.log(
    `runs                       ${report.runs}, ${report.missed} drivers had finished before their kill`,
  );
  console.log(`calls made again per kill  ${histogram(report.repeatedCalls)}`);
  console.log(`nodes redone per kill      ${histogram(report.redoneNodes)}`);
  console.log(`violations                 ${report.violations.length}`);
  for (const violation of report.violations) console.log(`  ${violation}`);
  console.log(`time                       ${seconds()} s`);
}
process.exitCode = report.violations.length === 0 ? 0 : 1;
