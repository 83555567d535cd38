// What agents make of briefs, by tests they never saw: pass rate, cost, human decisions.
//
//   pnpm eval --agents openai:MODEL                          every brief of examples/eval
//   pnpm eval --agents anthropic:MODEL --briefs csv-table    some of them; both flags may be repeated
//   pnpm eval --agents … --baseline 'claude -p'              beside a bare command, given the brief on its input
//   pnpm eval --agents replay:examples/eval/{brief}/recording.jsonl --briefs word-count
//
// --repeat N   each pair N times             --json   one JSON document
// --timeout M  minutes per run (default 30)  --keep   leave the folders, and say where they are
// Exit code 1 when a brief was not solved.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { sandboxFlags } from './sandboxFlags.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const BRIEFS = join(root, 'examples', 'eval');
const DEVS = [process.execPath, join(root, 'packages', 'cli', 'dist', 'bin.js')];

const SANDBOX = await sandboxFlags();

const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', multiple: true, default: [] },
    briefs: { type: 'string', multiple: true, default: [] },
    baseline: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    timeout: { type: 'string', default: '30' },
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});

/** Runs a command to its end, or kills it and all it started when its time is over. */
function run([file, ...args], { cwd, input = '', env = {} }) {
  return new Promise((done) => {
    const started = performance.now();
    const child = spawn(file, args, { cwd, detached: true, env: { ...process.env, ...env } });
    const limit = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), Number(options.timeout) * 60_000);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name].on('data', (chunk) => (output[name] += chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const end = (exitCode) => {
      clearTimeout(limit);
      done({ exitCode, seconds: (performance.now() - started) / 1000, ...output });
    };
    child.on('error', () => end(null));
    child.on('close', end);
  });
}

const jsonOf = (text, otherwise) => {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
};

/** Both gates are passed by declared policy; a human is asked where the engine itself stops. */
async function withDevs(agents, brief, dir) {
  const flags = [
    '--dir',
    dir,
    '--id',
    'eval',
    '--agents',
    agents.replaceAll('{brief}', brief),
    '--yes',
    ...SANDBOX,
    '--json',
  ];
  const { stdout, stderr, seconds } = await run([...DEVS, 'run', join(BRIEFS, brief, 'brief.md'), ...flags], {
    cwd: root,
  });
  const log = await run([...DEVS, 'log', 'eval', '--dir', dir, '--json'], { cwd: root });
  const asked = jsonOf(log.stdout, []).filter(({ name }) => name === 'HITL_SESSION_OPENED').length;
  const result = jsonOf(stdout, { status: 'error', cost: {} });
  const policies = jsonOf(log.stdout, []).filter(
    ({ name, payload }) => name === 'HITL_SESSION_DECIDED' && JSON.stringify(payload).includes('policy'),
  ).length;
  return {
    by: `devs ${agents}`,
    ended: result.status,
    error: result.status === 'error' ? stderr.trim() : (result.reason ?? null),
    work: join(dir, '.devs-work', 'eval'),
    humanDecisions: asked - policies,
    costUsd: result.cost.costUsd ?? 0,
    tokens: (result.cost.tokensIn ?? 0) + (result.cost.tokensOut ?? 0),
    seconds,
  };
}

async function withBaseline(command, brief, dir) {
  const input = readFileSync(join(BRIEFS, brief, 'brief.md'), 'utf8');
  const { exitCode, stdout, stderr, seconds } = await run(command.split(' '), { cwd: dir, input });
  const { total_cost_usd: costUsd = null } = jsonOf(stdout, {}) ?? {};
  const ended = exitCode === 0 ? 'completed' : `exit ${exitCode}`;
  const error = exitCode === 0 ? null : stderr.trim();
  return { by: command, ended, error, work: dir, humanDecisions: 0, costUsd, tokens: null, seconds };
}

/** The hidden tests, on a copy of the work. */
async function judge(brief, work) {
  const copy = mkdtempSync(join(tmpdir(), 'devs-judge-'));
  if (existsSync(work)) {
    cpSync(realpathSync(work), copy, { recursive: true, filter: (path) => !path.endsWith('.git') });
  }
  cpSync(join(BRIEFS, brief, 'acceptance'), join(copy, 'acceptance'), { recursive: true });
  const tests = readdirSync(join(copy, 'acceptance')).map((name) => join('acceptance', name));
  const { stdout } = await run([process.execPath, '--test', '--test-reporter=tap', ...tests], { cwd: copy });
  rmSync(copy, { recursive: true, force: true });
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0);
  return { passed: count('pass'), failed: count('fail') };
}

async function evaluate(brief, work) {
  const dir = mkdtempSync(join(tmpdir(), 'devs-eval-'));
  try {
    const done = await work(brief, dir);
    const hidden = await judge(brief, done.work);
    return {
      brief,
      ...done,
      hidden,
      isSolved: hidden.failed === 0 && hidden.passed > 0,
      ...(options.keep && { dir }),
    };
  } finally {
    if (!options.keep) rmSync(dir, { recursive: true, force: true });
  }
}

function line({ brief, by, ended, hidden, isSolved, humanDecisions, costUsd, seconds }) {
  const tests = `${hidden.passed} of ${hidden.passed + hidden.failed}`;
  const cost = costUsd === null ? 'not reported' : `$${costUsd.toFixed(2)}`;
  const cells = [
    brief,
    by,
    ended,
    tests,
    isSolved ? 'yes' : 'no',
    humanDecisions,
    cost,
    `${seconds.toFixed(0)} s`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function report(result) {
  console.log(line(result));
  if (result.error) console.log(`  ${result.error}`);
}

function summaryOf(results) {
  return [...new Set(results.map(({ by }) => by))].map((by) => {
    const own = results.filter((result) => result.by === by);
    const solved = own.filter(({ isSolved }) => isSolved).length;
    return { by, runs: own.length, solved, passRate: solved / own.length };
  });
}

async function main() {
  const known = readdirSync(BRIEFS).filter((name) => existsSync(join(BRIEFS, name, 'brief.md')));
  const briefs = options.briefs.length > 0 ? options.briefs : known;
  const unknown = briefs.find((name) => !known.includes(name));
  const repeat = Number(options.repeat);
  if (options.agents.length === 0 && options.baseline === undefined)
    throw new Error('Name --agents; see the head of scripts/eval.mjs.');
  if (unknown !== undefined)
    throw new Error(`There is no brief "${unknown}"; there are ${known.join(', ')}.`);
  if (!Number.isInteger(repeat) || repeat < 1)
    throw new Error('Expected --repeat to be a whole number from 1.');

  const workers = options.agents.map((agents) => (brief, dir) => withDevs(agents, brief, dir));
  if (options.baseline !== undefined)
    workers.push((brief, dir) => withBaseline(options.baseline, brief, dir));
  const results = [];
  if (!options.json)
    console.log(
      '| brief | by | ended | hidden tests | solved | human decisions | cost | time |\n|---|---|---|---|---|---|---|---|',
    );
  const jobs = briefs.flatMap((brief) => workers.flatMap((worker) => Array(repeat).fill({ brief, worker })));
  for (const { brief, worker } of jobs) {
    const result = await evaluate(brief, worker);
    results.push(result);
    if (!options.json) report(result);
  }
  const summary = summaryOf(results);
  if (results.some(({ isSolved }) => !isSolved)) process.exitCode = 1;
  if (options.json) console.log(JSON.stringify({ results, summary }, null, 2));
  else for (const { by, solved, runs } of summary) console.log(`\n${by}: ${solved} of ${runs} solved`);
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
