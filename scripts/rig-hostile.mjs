// Attacks of every kind that there is a test or a rig for, bounded in time, and one table of what came through.
//
//   pnpm rig:hostile                        all kinds, within 15 minutes
//   pnpm rig:hostile --only git --only forge
//   pnpm rig:hostile --list                 the kinds
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { KINDS, sizesOf } from './hostileKinds.mjs';
import { exitCodeOf, judge, judgeRig, notRun, readOpen, renderTable } from './hostileTable.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const LOGS = 'test-results';

const HELP = `Usage: pnpm rig:hostile [--only NAME]... [--minutes N] [--json] [--list]

Runs the tests and rigs of every kind of attack, one kind after the other, and prints a table: ways tried, how many of
them are open as docs/internals/security.md says, and how many came through. Ways are counted while they are tried.

  --only NAME   only this kind; may be given several times
  --minutes N   how long all of it may take; 15 without it. More minutes try more ways; the least is the short form of
                each test. Kinds for which no time is left are not run, and said to be so
  --json        as JSON on stdout; progress is on stderr in any case
  --list        the kinds, the variables that make each longer, and what it tries
  --help        this text

Exits 0 when all kinds held, 1 when something came through, 75 when nothing did but not every kind was run to its end
(no time left, bubblewrap missing), 130 after Ctrl-C. Logs are in ${LOGS}/hostile-NAME.log.

Examples:
  pnpm rig:hostile
  pnpm rig:hostile --minutes 60
  pnpm rig:hostile --only forge --only gates
  pnpm -s rig:hostile --json | jq '.kinds[] | select(.through > 0)'
`;

const LIST = KINDS.map(({ name, what, env = [] }) =>
  `${name.padEnd(14)}${what.padEnd(58)}${env.join(' ')}`.trimEnd(),
)
  .concat('')
  .join('\n');

/** How long a kind takes is told once in so many ms, so that nobody takes it for hung. */
const HEARTBEAT_MS = 60_000;
/** From asking processes to end to ending them, ms. */
const GRACE_MS = 5_000;

const say = (line) => process.stderr.write(`${line}\n`);

/** Only what attacks, where each file of the kind says what that is. */
const titlesOf = (files) =>
  files.every(({ titles }) => titles !== undefined)
    ? ['-t', files.map(({ titles }) => titles.source).join('|')]
    : [];

function commandOf({ name, files, rig }) {
  if (rig !== undefined)
    return ['--conditions=@devs/source', '--import', 'tsx', 'scripts/rig-sandbox.mjs', ...rig];
  const report = ['--reporter=default', '--reporter=json', `--outputFile.json=${LOGS}/hostile-${name}.json`];
  return ['scripts/test.mjs', ...files.map(({ path }) => path), ...titlesOf(files), ...report];
}

/** The process group of a kind, ended as a whole when the time is over or somebody stops. */
class Group {
  #child;
  /** Why it was ended early. @type {string | null} */
  stopped = null;

  constructor(child) {
    this.#child = child;
  }

  stop(why) {
    if (this.stopped !== null) return;
    this.stopped = why;
    this.#signal('SIGTERM');
    setTimeout(() => this.#signal('SIGKILL'), GRACE_MS).unref();
  }

  #signal(signal) {
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // It has ended.
    }
  }
}

/** Runs one kind to its end, or until it is stopped; `onStart` gets what stops it. */
async function run(kind, { minutes, deadline, open, onStart }) {
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const log = join(root, LOGS, `hostile-${kind.name}.log`);
  const report = join(root, LOGS, `hostile-${kind.name}.json`);
  rmSync(report, { force: true });
  const file = openSync(log, 'w');
  const child = spawn(process.execPath, commandOf(kind), {
    cwd: root,
    detached: true,
    stdio: ['ignore', file, file],
    // On a disk: what long forms write may be more than there is memory.
    env: { ...process.env, NO_COLOR: '1', TMPDIR: tmpdir(), ...sizesOf(kind, minutes) },
  });
  closeSync(file);
  const group = new Group(child);
  onStart(group);
  const timer = setTimeout(
    () => group.stop('not run to its end: the time was over'),
    Math.max(0, deadline - performance.now()),
  );
  const heartbeat = setInterval(() => say(`  … ${seconds().toFixed(0)} s`), HEARTBEAT_MS);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
  clearTimeout(timer);
  clearInterval(heartbeat);
  if (group.stopped !== null) return notRun(kind, { seconds: seconds(), open, why: group.stopped });
  if (kind.rig !== undefined)
    return judgeRig(kind, { stdout: readFileSync(log, 'utf8'), code, seconds: seconds(), open });
  const found = existsSync(report)
    ? JSON.parse(readFileSync(report, 'utf8'))
    : { success: false, testResults: [] };
  return judge(kind, { report: found, seconds: seconds(), open });
}

function told({ name, state, tried, through, why, seconds }) {
  if (state === 'not run') return `  ${why.join('; ')}`;
  const ways = `${through} of ${tried} came through, ${seconds.toFixed(0)} s`;
  return state === 'held' ? `  held: ${ways}` : `  FAILED: ${ways}, see ${LOGS}/hostile-${name}.log`;
}

async function runAll(chosen, { minutes, open }) {
  mkdirSync(join(root, LOGS), { recursive: true });
  const deadline = performance.now() + minutes * 60_000;
  const rows = [];
  let isStopped = false;
  let running = null;
  const stop = () => {
    isStopped = true;
    running?.stop('not run to its end: stopped');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  for (const [index, kind] of chosen.entries()) {
    const why = isStopped
      ? 'not run: stopped'
      : performance.now() >= deadline
        ? 'not run: no time was left'
        : null;
    if (why !== null) {
      rows.push(notRun(kind, { open, why }));
      continue;
    }
    say(`${index + 1}/${chosen.length} ${kind.name}: ${kind.what}`);
    const onStart = (group) => {
      running = group;
    };
    rows.push(await run(kind, { minutes, deadline, open, onStart }));
    say(told(rows.at(-1)));
  }
  return { rows, isStopped };
}

function choose(names) {
  const unknown = names.filter((name) => KINDS.every((kind) => kind.name !== name));
  if (unknown.length > 0)
    throw new TypeError(`There is no ${unknown.join(', ')}. There are:\n${LIST.trimEnd()}`);
  return names.length === 0 ? KINDS : KINDS.filter(({ name }) => names.includes(name));
}

function minutesOf(text) {
  const minutes = Number(text);
  if (Number.isFinite(minutes) && minutes > 0) return minutes;
  throw new RangeError(`--minutes: expected a number above 0, got ${JSON.stringify(text)}`);
}

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      minutes: { type: 'string', default: '15' },
      json: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  if (values.list) return void process.stdout.write(LIST);
  const minutes = minutesOf(values.minutes);
  const open = readOpen(readFileSync(join(root, 'docs/internals/security.md'), 'utf8'));
  const { rows, isStopped } = await runAll(choose(values.only), { minutes, open });
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ minutes, kinds: rows, open }, null, 2)}\n`
      : `\n${renderTable(rows, open)}`,
  );
  const code = exitCodeOf(rows);
  process.exitCode = isStopped && code !== 1 ? 130 : code;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
