// `pnpm trial`: repositories × agents × transports through the real command, and one table of what came of it.
import { parseArgs } from 'node:util';
import { AGENTS, MISSING_TOOL } from './agents.ts';
import { asProcess } from './asProcess.ts';
import { allCombinations, LOCAL_REPOSITORIES, matches, TRIALS } from './combinations.ts';
import { ModelHost } from './ModelHost.ts';
import { REPOSITORIES } from './repositories.ts';
import { type Combination, faultsOf, type Row, runTrial } from './runTrial.ts';
import { SITUATIONS } from './situations/situations.ts';
import { unsound } from './soundness.ts';
import { LOCAL, Registry } from './Toolbox.ts';
import { TRANSPORTS } from './Transport.ts';
import { reasonsOf, renderTable, sumsOf } from './table.ts';
import { trialBin } from './trialBin.ts';

const HELP = `Usage: pnpm trial [--only REPOSITORY/AGENT/TRANSPORT]... [--minutes N] [--suite SECONDS] [--local] [--policy] [--sound] [--keep] [--json] [--list]

Runs the real devs command on ten repositories with twelve agents that each have one vice, over HTTP, as commands and over
the Agent Client Protocol, and in ten situations of an ordinary day, and judges what was committed by tests that no agent
has seen.

  --only WHAT    a repository, an agent or a transport, or several of them with slashes: p-limit, p-limit/refusal,
                 p-limit/refusal/acp, //acp; may be given several times
  --minutes N    how long all of it may take; 60 without it. What no time is left for is not run, and said to be so
  --local        only repositories for which this workspace has everything; nothing is fetched
  --suite SECONDS  how long the tests of slow-suite take; 15 without it, 150 is a real one
  --policy       design and plan are approved by a policy, not by commands of a person
  --sound        only whether each repository can tell right work from wrong; no agents
  --keep         the folder of a trial that went wrong stays, and is named
  --from N       begins with another combination: 0 to ${REPOSITORIES.length * TRIALS.length * TRANSPORTS.length - 1}
  --json         as JSON on stdout; progress is on stderr in any case
  --list         the repositories, agents and transports

The table counts commits by whether they are right; attempts in which the agent did its best and whose work did not become
a commit (refused); calls that were paid before a missing tool was told (paid); how often a person was asked, and what was
typed; and the requests and tokens that devs counted.

Exits 0 when all is well, 1 when wrong work was committed, correct work refused, a call paid too early, a person asked
without need, or a design or plan took more than two commands or a devs answer, 75 when not everything was run.

Packages are fetched once, into a folder of the temporary one, and compared with the integrity that is pinned.

Examples:
  pnpm trial --minutes 10
  pnpm trial --only p-limit
  pnpm -s trial --only gutted-test --json | jq '.rows[] | select(.commits.wrong > 0)'
`;

const LIST = [
  ...REPOSITORIES.map(({ name, what }) => `${name.padEnd(28)}${what}`),
  '',
  ...AGENTS.map(([name, what]) => `${name.padEnd(28)}${what}`),
  `${MISSING_TOOL.padEnd(28)}beside them: a check whose tool is not installed`,
  '',
  ...SITUATIONS.map(({ name, what }) => `${name.padEnd(28)}${what}`),
  '',
  TRANSPORTS.join(', '),
  '',
].join('\n');

const say = (line: string): void => void process.stderr.write(`${line}\n`);

interface Options {
  readonly only: readonly string[];
  readonly minutes: number;
  readonly suiteMs: number;
  readonly isLocal: boolean;
  readonly gates: 'person' | 'policy';
  readonly from: number;
  readonly isKeeping: boolean;
}

function chosen({ only, isLocal, from }: Options): readonly Combination[] {
  const there = allCombinations(from).filter(
    ({ repository }) => !isLocal || LOCAL_REPOSITORIES.includes(repository),
  );
  const nothing = only.filter((each) => !there.some((combination) => matches(combination, each)));
  if (nothing.length > 0) throw new TypeError(`There is no ${nothing.join(', ')}. There are:\n\n${LIST}`);
  return only.length === 0
    ? there
    : there.filter((combination) => only.some((each) => matches(combination, each)));
}

async function runAll(options: Options): Promise<{ readonly rows: readonly Row[]; readonly notRun: number }> {
  const combinations = chosen(options);
  const tools = options.isLocal ? LOCAL : new Registry(say);
  const deadline = performance.now() + options.minutes * 60_000;
  let isStopped = false;
  process.once('SIGINT', () => {
    isStopped = true;
    say('stopping after this one');
  });
  const { bin, remove } = await trialBin();
  const models = await ModelHost.start();
  const rows: Row[] = [];
  try {
    for (const [index, combination] of combinations.entries()) {
      if (isStopped || performance.now() >= deadline) break;
      const { repository, agent, transport } = combination;
      const row = await runTrial(combination, {
        devs: asProcess(bin),
        models,
        tools,
        gates: options.gates,
        suiteMs: options.suiteMs,
        ...(options.isKeeping && { onKept: (dir) => say(`kept: ${dir}`) }),
      });
      rows.push(row);
      const faults = faultsOf(row);
      const outcome = faults.length === 0 ? 'ok' : `FAILED: ${faults.join(', ')}`;
      say(
        `${index + 1}/${combinations.length} ${repository.name}/${agent}/${transport} ${row.seconds.toFixed(1)} s ${outcome}`,
      );
      if (faults.length > 0) say(reasonsOf(row).join('\n'));
    }
  } finally {
    await models.stop();
    remove();
  }
  return { rows, notRun: combinations.length - rows.length };
}

async function proveSound(options: Options): Promise<void> {
  const tools = options.isLocal ? LOCAL : new Registry(say);
  for (const repository of new Set(chosen(options).map((combination) => combination.repository))) {
    const why = await unsound(repository, tools);
    process.stdout.write(`${repository.name.padEnd(28)}${why.length === 0 ? 'ok' : why.join('\n')}\n`);
    if (why.length > 0) process.exitCode = 1;
  }
}

function numberOf(flag: string, text: string, isFine: (number: number) => boolean): number {
  const number = Number(text);
  if (isFine(number)) return number;
  throw new RangeError(`${flag}: got ${JSON.stringify(text)}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      minutes: { type: 'string', default: '60' },
      suite: { type: 'string', default: '15' },
      from: { type: 'string', default: `${Math.floor(Math.random() * 390)}` },
      local: { type: 'boolean', default: false },
      policy: { type: 'boolean', default: false },
      sound: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  if (values.list) return void process.stdout.write(LIST);
  const options: Options = {
    only: values.only,
    minutes: numberOf('--minutes', values.minutes, (number) => number > 0),
    suiteMs: 1000 * numberOf('--suite', values.suite, (number) => number > 0),
    from: numberOf('--from', values.from, (number) => Number.isInteger(number) && number >= 0),
    isLocal: values.local,
    isKeeping: values.keep,
    gates: values.policy ? 'policy' : 'person',
  };
  if (values.sound) return proveSound(options);
  const { rows, notRun } = await runAll(options);
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ rows, notRun, sums: sumsOf(rows) }, null, 2)}\n`
      : `\n${renderTable(rows, notRun)}`,
  );
  if (rows.some((row) => faultsOf(row).length > 0)) process.exitCode = 1;
  else if (notRun > 0) process.exitCode = 75;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
