// The long forms of tests that `pnpm test` runs with small numbers: one after the other, outside of CI.
//
//   pnpm test:long                          all of them
//   pnpm test:long --list                   what there is
//   pnpm test:long --only chaos             one of them; may be given several times
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const LOGS = 'test-results';

/** Each is the same test as by default, with a larger number; `filter` is a part of its path. */
const LONG = [
  ['chaos', { CHAOS_KILLS: 1000 }, 'chaos/chaos', 'drivers killed at random moments'],
  [
    'many-drivers',
    { DEVS_DRIVERS: 16, DEVS_DRIVER_RUNS: 6 },
    'drive/manyDrivers',
    '16 processes, each with six runs at once, over one file that somebody else holds now and then',
  ],
  [
    'cancels',
    { DEVS_CANCELS: 200, DEVS_CANCEL_KILLS: 40 },
    'drive/cancelledElsewhere',
    'runs that hang, cancelled by another process (times in test-results/cancel-*.json), and kills around it',
  ],
  [
    'webhooks',
    { DEVS_WEBHOOK_RUNS: 334, DEVS_WEBHOOK_KILLS: 30 },
    'killedSender',
    'a sender of webhooks, killed, and a receiver that fails at random',
  ],
  [
    'traces',
    { DEVS_TRACE_RUNS: 2000, DEVS_TRACE_KILLS: 1000, DEVS_TRACE_FAILURES: 21 },
    'killedExporter',
    'an exporter of spans, killed 1,000 times, and a collector that fails at random',
  ],
  ['chaos-humans', { CHAOS_HUMANS: 50 }, 'chaos/humans', 'the same around edits and goals'],
  ['chaos-reviews', { CHAOS_REVIEWS: 50 }, 'chaos/reviews', 'the same around code reviews'],
  ['demo', { DEVS_DEMO_KILLS: 50 }, 'killedDemo', 'the demo, killed and driven again'],
  ['fresh-clones', { DEVS_FRESH_CLONES: 100 }, 'outsideTheTree', 'verdicts beside those of fresh clones'],
  [
    'kept-index',
    { DEVS_KEPT_INDEX: 200 },
    'keptIndex',
    'folders that git reads the changed files of, beside all of them',
  ],
  ['checkouts', { DEVS_CHECKOUTS: 200 }, 'HeldFile', 'run files that processes take from each other'],
  [
    'soak',
    { DEVS_SOAK_SECONDS: 1800 },
    'soak/soak.test',
    '30 minutes of 2 runs a second with a retention of one minute (samples in test-results/soak.json): memory, tables and dead rows stay flat',
  ],
  ['adoptions', { DEVS_ADOPTIONS: 200 }, 'adopt.test', 'changes of agents and a person, adopted'],
  [
    'upgrades',
    { DEVS_UPGRADE_PAIRS: 500 },
    'change/__tests__/upgrades',
    'pairs of graphs: what a check says, what a drive does, and what LangGraph alone ends with',
  ],
  ['rewind', { DEVS_REWIND_KILLS: 100 }, 'killedRewind', 'rewinds killed at any write'],
  [
    'deaths',
    { DEVS_LIFE_DEATHS: 1000 },
    'crash/diesAtWrites',
    'a death at every write of waits, children, turns, frames, gates, votes and more',
  ],
  [
    'cancel-deaths',
    { DEVS_CANCEL_DEATHS: 1000 },
    'drive/cancelledTurns',
    'a death at every write of a cancel and the turn that follows',
  ],
  ['kills', { DEVS_LIFE_KILLS: 200 }, 'crash/killed.test', 'the same in processes that are killed'],
  [
    'power-cuts',
    { DEVS_POWER_CUTS: 600 },
    'crash/powerCut',
    'images of the disk as the power goes, in both modes of durability',
  ],
  ['writer', { DEVS_KILLS: 1000 }, 'killedWriter', 'a writer of checkpoints, killed'],
  [
    'rekey',
    { DEVS_REKEY_KILLS: 100 },
    'encryption/rekey',
    'a process killed while it changes the key of a file',
  ],
  ['visible', { DEVS_VISIBLE_TEXTS: 200_000 }, 'visibleText', 'pairs of texts, shown'],
  [
    'exact',
    { DEVS_EXACT_BINARIES: 1000, DEVS_EXACT_BYTES: 32_768 },
    'keptExactly',
    'binaries in every form, through everything that a run holds',
  ],
  [
    'migrations',
    { DEVS_MIGRATION_DEATHS_EVERY: 1 },
    'killedMigration',
    'a process killed at every statement of the migrations',
  ],
  ['gate-kinds', { DEVS_GATE_COMPILES: 2 }, 'newGateKind', 'a new kind of gate, compiled when it is whole'],
  [
    'measures',
    { DEVS_MEASURE_COMPILES: 2 },
    'newMeasure',
    'a new measure of budgets, compiled when it is whole',
  ],
  [
    'wait-orders',
    { DEVS_WAIT_CASES: 1000 },
    'waits/__tests__/interleavings',
    'waits, signals and clocks in any order',
  ],
  [
    'checkpoints',
    { DEVS_RESUMED_EVERY: 1 },
    'resumedCheckpoints',
    'recorded runs, resumed from each of their checkpoints',
  ],
  ['statefiles', { DEVS_STATEFILES_EVERY: 1 }, 'statefiles.test', 'every state file of every release'],
  ['spender', { DEVS_SPENDER_KILLS: 20 }, 'guards/countersOverKills', 'counters of a budget, over kills'],
  [
    'failed-commits',
    { DEVS_FAILED_COMMITS: 80 },
    'state/failedCommits',
    'commits that the operating system fails',
  ],
  [
    'child-trees',
    { DEVS_TREE_CASES: 300 },
    'waits/__tests__/trees',
    'trees of runs that die, and by LangGraph alone',
  ],
  [
    'wakes',
    { DEVS_WAKES_EVERY: 1, DEVS_WAKE_RACES: 24 },
    'drive/wakes',
    'a decision at every pair of moments of a drive',
  ],
  [
    'wakes-across',
    { DEVS_WAKES_ACROSS: 2000 },
    'drive/wakesAcross',
    'decisions of another process, watched and by the clock alone',
  ],
  ['tasks-at-once', { DEVS_TASKS_AT_ONCE: 1500 }, 'neverWaits', 'timers beside a super-step of many tasks'],
  [
    'worst-texts',
    { DEVS_WORST_TEXTS: 16_000 },
    'masking/linear',
    'the worst texts for every rule of masking',
  ],
  ['bit-flips', { DEVS_BIT_FLIPS: 4000 }, 'bitFlips', 'bits that flip in stored values and keys'],
  [
    'row-faults',
    { DEVS_ROW_FAULTS: 20_000 },
    'rowFaults',
    'rows of any table deleted, or their keys swapped',
  ],
  ['faults', { DEVS_FAULTS_EVERY: 1 }, 'everyStatementFails', 'every statement fails, once each'],
  ['asks', { DEVS_ASKS: 200 }, 'asks/asks', 'questions at gates, killed, beside decisions and drives'],
  ['disks', { DEVS_DISK_COMMANDS: 9 }, 'badDisks', 'commands on a full and a read-only disk'],
  ['spending', { DEVS_SPENDING_RUNS: 2000 }, 'stepSpending', 'sums of what the calls of a turn have spent'],
  ['usage', { DEVS_USAGE_CASES: 50_000 }, '__tests__/usage', 'figures that calls say about themselves'],
  ['backups', { DEVS_BACKUPS: 300 }, 'backupUnderWriter', 'backups beside a live writer'],
  [
    'service',
    { DEVS_SERVICE_RUNS: 60, DEVS_SERVICE_DEATHS: 40 },
    'crash/service',
    'runs of a service, killed',
  ],
  ['work', { DEVS_WORK_RUNS: 2000, DEVS_WORK_KILLS: 20 }, 'crash/works', 'workers over one file, killed'],
  [
    'reopened',
    { DEVS_REOPENED: 20 },
    'reopenAfterKill',
    'a large state file of a killed writer, opened again',
  ],
  ['growth', { DEVS_GROWTH_STEPS: 1000 }, 'state/growth', 'what a state file takes per step'],
  [
    'long-runs',
    { DEVS_LONG_RUN_STEPS: 1000 },
    'engine/__tests__/longRuns',
    'steps of one run in one process',
  ],
  ['lists', { DEVS_LISTS: 2000 }, 'listRuns', 'pages of runs'],
  ['project', { DEVS_PROJECT_TASKS: 1000 }, 'largeProject', 'tasks of one project'],
  ['loop', { DEVS_LOOP_CASES: 1000 }, 'taskLoop.property', 'attempts of agents that lie, at one task'],
  ['programs', { DEVS_FLAT_CASES: 5000 }, 'flatEqualsPlain', 'random programs, flat and recursive'],
  ['graphs', { DEVS_GRAPH_CASES: 3000 }, 'equalsLangGraph', 'random graphs, durable and by LangGraph alone'],
  [
    'store',
    { DEVS_STORE_RUNS: 10_000 },
    'equalsInMemory',
    'operations of a store, and of LangGraph’s in memory',
  ],
  ['stops', { DEVS_STOPS_EVERY: 1 }, 'breakpoints', 'a death at every write around breakpoints'],
  [
    'turn-acts',
    { DEVS_TURN_CASES: 1000 },
    'turnsEqual',
    'turns with any acts and deaths, and by LangGraph alone',
  ],
  ['turns-at-once', { DEVS_TURNS_EVERY: 1 }, 'turnsAtOnce', 'two turns given at every pair of moments'],
  ['examples', { DEVS_GRAPH_KILLS: 100 }, 'graphExamples', 'examples of graphs, killed at each call'],
  ['killed-graphs', { DEVS_KILLED_GRAPHS: 2000 }, 'randomGraphs', 'random graphs that work, killed'],
  ['random-tasks', { DEVS_RANDOM_TASKS: 1000 }, 'randomTasks', 'random programs of tasks, killed'],
  ['retried-graphs', { DEVS_RETRIED_GRAPHS: 2000 }, 'retriedGraphs', 'graphs in retried tasks, killed'],
  [
    'graph-programs',
    { DEVS_PROGRAM_KILLS: 100 },
    'crash/programs',
    'programs of every kind, killed at each call',
  ],
  [
    'imports',
    { DEVS_IMPORT_THREADS: 20, DEVS_IMPORT_DEATHS: 1000 },
    'transfer/diesAtImport',
    'threads of other checkpointers, imported by processes that die at each write',
  ],
  [
    'imported',
    { DEVS_IMPORTED: 1000, DEVS_EXPORTED: 1000 },
    'core/test/transfer/',
    'threads of every program, carried over at each of their stops, and back',
  ],
  [
    'saver-deaths',
    { DEVS_SAVER_DEATHS_EVERY: 1 },
    'node/__tests__/step',
    'a death at every operation of the saver',
  ],
  ['prunes', { DEVS_PRUNES: 200 }, 'saver/__tests__/prune', 'any prune of any history'],
  ['frames-deep', { DEVS_NESTED_FRAMES: 200 }, 'flatIterativeAdapter', 'frames in frames'],
  ['streams', { DEVS_STREAM_KILLS: 200 }, 'stream/killedStreams', 'streams of runs whose drivers are killed'],
  [
    'reconnects',
    { DEVS_STREAM_RECONNECTS: 1000 },
    'stream/killedStreams',
    'readers of 200 runs that come and go',
  ],
  [
    'tokens',
    { DEVS_TOKEN_KILLS: 100 },
    'stream/killedTokens',
    'drivers killed between a word of a model and the checkpoint',
  ],
  ['streamed', { DEVS_STREAMED_PROGRAMS: 108 }, 'stream/asLangGraph', 'programs of every kind, streamed'],
  [
    'page',
    { DEVS_PAGE_KILLS: 30 },
    'killedPage',
    'decisions on the page, its server or the driver killed meanwhile',
  ],
  [
    'pages',
    { DEVS_REAL_TOOLS: 2 },
    'transcript/transcript',
    'the commands of the pages, with the npm of the machine',
  ],
  [
    'repository',
    { DEVS_REAL_TOOLS: 2 },
    'cli/test/existingRepository',
    'runs in a repository of somebody, with the npm of the machine',
  ],
  [
    'trial',
    { DEVS_TRIAL_TURNS: 9 },
    'trial/trial',
    'ten situations, and agents with vices on three repositories, three ways',
  ],
  [
    'sound',
    { DEVS_SOUND_REPOSITORIES: 3 },
    'trial/soundness',
    'checks of the trial’s repositories, on right work and wrong',
  ],
  ['raced', { DEVS_RACED_ROUNDS: 200 }, 'racingDrivers', 'two processes that resume one run at once'],
  ['floods', { DEVS_FLOOD_MIB: 1024 }, 'acp/acpAgents', 'agents over the protocol that print without end'],
  ['flood-command', { DEVS_FLOOD_MIB: 1024 }, 'command/commandAgents', 'the same of a command'],
  ['rewind-states', { DEVS_REWIND_CASES: 5000 }, 'withoutLaterWork', 'random states to rewind'],
  ['masks', { DEVS_MASK_TEXTS: 20_000 }, 'masking/heldOut', 'random secrets among harmless texts'],
  [
    'suites-file',
    { DEVS_TEST_RUNS: 'file' },
    'packages/core',
    'suites of the engine through Runs, in one file',
  ],
  ['suites-memory', { DEVS_TEST_RUNS: 'memory' }, 'packages/core', 'the same, a file of each run in memory'],
  ['suites-cluster', { DEVS_TEST_RUNS: 'postgres' }, 'packages/core', 'the same, in PostgreSQL'],
  ['deciders', { DEVS_DECIDED_GATES: 100 }, 'deciders', 'gates that eight decide at the same time'],
  ['tenants', { DEVS_TENANT_RUNS: 60 }, 'tenants', 'tenants that share 32 slots, from a cold start'],
  [
    'cluster-wakes',
    { DEVS_CLUSTER_WAKES: 600 },
    'chaos/wakes',
    'runs told something while workers are killed',
  ],
  [
    'server-faults',
    { DEVS_LOST_ANSWERS: 300, DEVS_STANDBYS: 10 },
    'serverFaults',
    'answers of PostgreSQL that do not come, an older copy of it that is put back under workers',
  ],
  ['freezes', { DEVS_FREEZES: 6 }, 'freezes', 'a worker of a cluster that stands still at six points'],
  [
    'failovers',
    { DEVS_CLUSTER_FAILOVERS: 10 },
    'serverFaults',
    'an older copy of PostgreSQL between two claims of a run',
  ],
  [
    'promotions',
    { DEVS_PROMOTIONS: 10 },
    'serverFaults',
    'a standby of PostgreSQL that takes over without the commits of six seconds',
  ],
  [
    'cluster-poison',
    { DEVS_CLUSTER_POISONS: 9 },
    'postgres/test/chaos/poison',
    'runs that end their workers',
  ],
  [
    'cluster-chaos',
    { DEVS_CLUSTER_KILLS: 1000 },
    'clusterChaos',
    'workers of a cluster with wrong clocks, killed and frozen, a pooler before a server that takes no changes now and then',
  ],
  [
    'ships',
    { DEVS_CHANGES: 20_000 },
    'postgres/src/__tests__/WalTap',
    'changes of files, shipped byte for byte',
  ],
  [
    'lasting',
    { DEVS_LASTING_RUNS: 20_000 },
    '__tests__/lasting',
    'values that cannot change, beside such as can',
  ],
  ['quotes', { DEVS_QUOTE_CASES: 20_000 }, 'gates/__tests__/quotes', 'places in texts that are edited'],
  [
    'typed-commands',
    { DEVS_TYPED_COMMANDS: 13 },
    'scripts/typedCommands',
    'what the specifications tell to type, in a fresh clone',
  ],
  [
    'agent-server',
    { DEVS_DIFFERENTIAL_SEQUENCES: 300 },
    'server/test/differential',
    'sequences of requests, to the agent server and to LangGraph’s',
  ],
  [
    'agent-gates',
    { DEVS_GATE_SEQUENCES: 10_000 },
    'server/test/nothingPasses',
    'sequences of requests that would pass a question',
  ],
  [
    'agent-streams',
    { DEVS_OPEN_STREAMS: 10_000 },
    'server/test/hostile',
    'streams of the agent server that are held open',
  ],
  [
    'agent-kills',
    { DEVS_AGENT_SERVER_KILLS: 500 },
    'server/test/kills',
    'servers over a file, killed under a page that is open',
  ],
  [
    'agent-cluster',
    { DEVS_AGENT_CLUSTER_KILLS: 500 },
    'server/test/kills',
    'servers and workers over PostgreSQL, killed under a page that is open',
  ],
  ['values', { DEVS_GENERATED_VALUES: 200_000 }, 'StrictSerde', 'random values to store'],
].map(([name, env, filter, what]) => ({ name, env, filter, what, run: ['scripts/test.mjs', filter] }));

/** One of the scenarios of `kills`, at each of its statements. */
LONG.push({
  name: 'tool-threads',
  env: { DEVS_LIFE_KILLS: 300 },
  filter: 'crash/killed.test',
  what: 'tools that call a graph under a thread of its own, killed',
  run: ['scripts/test.mjs', 'crash/killed.test', '-t', 'under a thread of its own'],
});

/** A script of its own: it installs what it tests. */
LONG.push({
  name: 'newest-clients',
  env: {},
  filter: 'scripts/newest-clients.mjs',
  what: 'the stock clients of the agent server in their newest versions',
  run: ['scripts/newest-clients.mjs'],
});

/** The same. */
LONG.push({
  name: 'next',
  env: {},
  filter: 'scripts/next-example.mjs',
  what: 'the example with Next.js, built, served and killed',
  run: ['scripts/next-example.mjs'],
});

/** A script of its own, of which `.ci/run` runs a part. */
LONG.push({
  name: 'mutations',
  env: {},
  filter: 'pnpm verify:spec --mutate',
  what: 'every row of the ledger made false',
  run: ['scripts/verify-spec.mjs', '--mutate'],
});

const HELP = `Usage: pnpm test:long [--only NAME]... [--list]

Runs the long forms of tests that \`pnpm test\` runs with small numbers, one after the other. Exits 1 when one fails.
The output of each is in ${LOGS}/long-NAME.log.

  --only NAME   only this one; may be given several times
  --list        the names, what each sets, and what it does
  --help        this text

Examples:
  pnpm test:long
  pnpm test:long --only chaos --only demo
`;

const settings = ({ env }) =>
  Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

const LIST = LONG.map(
  (each) => `${each.name.padEnd(15)}${settings(each).padEnd(70)}${each.filter.padEnd(30)} ${each.what}\n`,
).join('');

/** How long a run takes is told once in so many ms, so that nobody takes it for hung. */
const HEARTBEAT_MS = 60_000;

/** @returns whether it passed, and its seconds */
function run({ name, env, run: args }) {
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const log = join(root, LOGS, `long-${name}.log`);
  const file = openSync(log, 'w');
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', file, file],
    // On a disk: what they write may be more than there is memory.
    env: { ...process.env, NO_COLOR: '1', TMPDIR: tmpdir(), DEVS_SEED: 'random', ...env },
  });
  closeSync(file);
  const heartbeat = setInterval(() => process.stdout.write(`  … ${seconds().toFixed(0)} s\n`), HEARTBEAT_MS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      clearInterval(heartbeat);
      if (code !== 0) process.stdout.write(readFileSync(log, 'utf8'));
      resolve({ name, ok: code === 0, seconds: seconds() });
    });
  });
}

const outcome = ({ name, ok, seconds }) =>
  `${name.padEnd(15)}${ok ? 'ok    ' : 'FAILED'}${`${seconds.toFixed(0)} s`.padStart(8)}\n`;

async function runAll(chosen) {
  mkdirSync(join(root, LOGS), { recursive: true });
  const ended = [];
  for (const [index, each] of chosen.entries()) {
    process.stdout.write(`${index + 1}/${chosen.length} ${each.name}: ${settings(each) || each.filter}\n`);
    ended.push(await run(each));
    process.stdout.write(`  ${outcome(ended.at(-1))}`);
  }
  process.stdout.write(`\n${ended.map(outcome).join('')}`);
  return ended.every(({ ok }) => ok) ? 0 : 1;
}

function choose(names) {
  const unknown = names.filter((name) => LONG.every((each) => each.name !== name));
  if (unknown.length > 0)
    throw new TypeError(`There is no ${unknown.join(', ')}. There are:\n${LIST.trimEnd()}`);
  return names.length === 0 ? LONG : LONG.filter(({ name }) => names.includes(name));
}

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) process.stdout.write(HELP);
  else if (values.list) process.stdout.write(LIST);
  else process.exitCode = await runAll(choose(values.only));
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
