import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { sha256Of } from '../../src/config/readConfig.ts';
import { MAY_STOP, MISSING_TOOL, NEEDED_GATES, type TrialName } from './agents.ts';
import { briefOf, type Job } from './Job.ts';
import { judge, type Verdict } from './judge.ts';
import type { Hosting, ModelHost } from './ModelHost.ts';
import { overProgram } from './overProgram.ts';
import { type Devs, Person, type Typed } from './Person.ts';
import type { Repository } from './Repository.ts';
import type { Arranged, Situation } from './situations/Situation.ts';
import { situationOf } from './situations/situations.ts';
import type { Toolbox } from './Toolbox.ts';
import type { Connected, TransportName } from './Transport.ts';
import { TrialAgent } from './TrialAgent.ts';
import { type TrialCheckout, trialCheckout } from './TrialCheckout.ts';

/** One repository, one agent, one way to reach it. */
export interface Combination {
  readonly repository: Repository;
  readonly agent: TrialName;
  readonly transport: TransportName;
}

export interface Setting {
  readonly devs: Devs;
  /** Where models are. */
  readonly models: ModelHost;
  readonly tools: Toolbox;
  /** Who decides on design and plan. */
  readonly gates: 'person' | 'policy';
  /** How long the repository's setup says nothing, ms. @defaultValue 0 */
  readonly setupMs?: number;
  /** How long a suite takes that is slow, ms. @defaultValue 1 500 */
  readonly suiteMs?: number;
  /** Told the folder of a trial that went wrong, which then stays. @defaultValue it is removed */
  readonly onKept?: (dir: string) => void;
}

/** What happened in one trial, counted. */
export interface Row {
  readonly repository: string;
  readonly agent: TrialName;
  readonly transport: TransportName;
  readonly commits: { readonly right: number; readonly wrong: number };
  /** Attempts in which the agent did its best, and whose work did not become a commit. */
  readonly refused: number;
  /** Calls of agents before a missing tool was told. */
  readonly paidBeforeTold: number;
  /** What a person was asked, in order: kinds of gates, and codes of errors that stopped a drive. */
  readonly asked: readonly string[];
  readonly askedWithoutNeed: readonly string[];
  /** Most commands that one gate took. */
  readonly commandsPerGate: number;
  /** Times `devs answer` was typed where an approval or a rejection has to do. */
  readonly answers: number;
  /** Stages that the agent did. */
  readonly calls: number;
  /** What devs says: requests to models, and their tokens. */
  readonly requests: number;
  readonly tokens: number;
  /** Command lines of the person, in order. */
  readonly typed: readonly string[];
  /** What a situation asks of the work, or devs says of itself, and is not so. */
  readonly broken: readonly string[];
  readonly seconds: number;
  /** What is wrong, for people. */
  readonly why: readonly string[];
}

/** Commands that a gate may take: a decision, and going on. */
const MOST_COMMANDS = 2;

/** What has to be 0, where it is not. */
export function faultsOf({
  commits,
  refused,
  paidBeforeTold,
  askedWithoutNeed,
  commandsPerGate,
  answers,
  broken,
}: Omit<Row, 'seconds'>): readonly string[] {
  const counted = [
    [commits.wrong, 'wrong work committed'],
    [refused, 'correct work refused'],
    [paidBeforeTold, 'paid before a missing tool was told'],
    [askedWithoutNeed.length, 'asked without need'],
    [commandsPerGate > MOST_COMMANDS ? commandsPerGate : 0, 'commands at one gate'],
    [answers, 'answers instead of approvals'],
    [broken.length, 'broken'],
  ] as const;
  return counted.filter(([count]) => count > 0).map(([count, words]) => `${words}: ${count}`);
}

const RUN = 'trial';
const BRANCH = `devs/${RUN}`;
const START = ['run', '.devs/brief.md', '--id', RUN, '--no-sandbox'] as const;
/** Requests after which a run is stuck: an agent that reads without end makes 50 in one stage. */
const CALLS = '400';
/** Commands after which a person gives up. */
const PATIENCE = 16;

/** Runs one trial in a folder of its own. */
export async function runTrial(combination: Combination, setting: Setting): Promise<Row> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-trial-'));
  const start = performance.now();
  let isKept = false;
  try {
    const row = await tryOut(combination, setting, dir);
    isKept = setting.onKept !== undefined && faultsOf(row).length > 0;
    if (isKept) setting.onKept?.(dir);
    return { ...row, seconds: (performance.now() - start) / 1000 };
  } finally {
    if (!isKept) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function tryOut(
  { repository, agent: name, transport }: Combination,
  { devs, models, tools, gates, setupMs = 0, suiteMs = 1_500 }: Setting,
  dir: string,
): Promise<Omit<Row, 'seconds'>> {
  const situation = situationOf(name);
  const home = join(dir, 'home');
  mkdirSync(home);
  const found = await trialCheckout(dir, { repository, agent: name, tools, setupMs, situation });
  const { user, programs } = found;
  const arranged = (await situation?.arrange?.({ dir, home, user, suiteMs })) ?? {};
  const checkout = checkoutOf(found, arranged);
  // Models see every file with the line ends of Unix.
  const base = Object.entries(found.base).map(([file, content]) => [file, content.replaceAll('\r\n', '\n')]);
  const job: Job = { repository, base: Object.fromEntries(base), isChore: name === 'no-test' };
  const agent = new TrialAgent(job, name, situation?.reads);
  const connected = await connect(agent, transport, { models, hosting: arranged.hosting });
  try {
    const path = programs === null ? {} : { PATH: `${programs}${delimiter}${process.env['PATH']}` };
    const env = { ...models.env, ...path, HOME: home, XDG_STATE_HOME: home, ...arranged.env };
    const person = new Person(devs, { cwd: user.root, env });
    const project = { connected, gates, isMissing: name === MISSING_TOOL, config: arranged.config };
    const trust = writeProject(checkout, job, project);
    const refused = await notRefused(person, situation, { trust, agent });
    const course = await follow(person, name, trust);
    user.assertUntouched();
    const verdict = await judge(job, checkout, { branch: BRANCH, dir });
    const { cost } = await person.look(RUN);
    const isMiscounted = ![undefined, cost.requests].includes(connected.answered?.());
    const broken = [
      ...refused,
      ...(isMiscounted ? [`devs counts ${cost.requests} requests of ${connected.answered?.()}`] : []),
      ...(course.isCompleted ? await brokenIn(person, user, arranged) : []),
    ];
    return rowOf({ repository, agent: name, transport }, { course, verdict, agent, person, cost, broken });
  } finally {
    await connected.stop();
    await arranged.stop?.();
  }
}

/** A repository as its situation sets it up. */
function checkoutOf(found: TrialCheckout, { config, check, checks, judged }: Arranged): TrialCheckout {
  const setup = config?.setup;
  const argv = checks?.[0]?.argv;
  return {
    ...found,
    setup: setup === undefined ? found.setup : Array.isArray(setup) ? setup : setup.argv,
    check: argv ?? found.check,
    checks: (checks ?? found.checks).map((each) => ({ ...each, ...check })),
    ...(judged !== undefined && { judged }),
  };
}

/** Types what has to be refused before anything is paid. @returns why it was not */
async function notRefused(
  person: Person,
  situation: Situation | undefined,
  { trust, agent }: { readonly trust: readonly string[]; readonly agent: TrialAgent },
): Promise<readonly string[]> {
  if (situation?.refused === undefined) return [];
  const { flags, words } = situation.refused;
  const { exitCode, stderr } = await person.devs(...START, ...flags, ...trust);
  if (exitCode === 2 && words.test(stderr) && agent.calls.length === 0) return [];
  return [`not refused: devs run ${flags.join(' ')}: exit ${exitCode}, ${stderr}`];
}

async function brokenIn(
  person: Person,
  { root }: TrialCheckout['user'],
  { broken }: Arranged,
): Promise<readonly string[]> {
  if (broken === undefined) return [];
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  return broken({ branch: BRANCH, git, root, status: await person.read(RUN), typed: person.typed });
}

async function connect(
  agent: TrialAgent,
  transport: TransportName,
  { models, hosting }: { readonly models: ModelHost; readonly hosting: Hosting | undefined },
): Promise<Connected> {
  if (transport !== 'http') return overProgram(agent, transport);
  return { ...models.add(agent, hosting), stop: async () => undefined };
}

interface ProjectOfTrial extends Pick<Setting, 'gates'> {
  readonly connected: Connected;
  readonly isMissing: boolean;
  readonly config: Arranged['config'];
}

/** What a person puts into the folder, none of it part of the repository's tree. */
function writeProject(
  { user, setup, checks }: TrialCheckout,
  job: Job,
  { connected, gates, isMissing, config: own }: ProjectOfTrial,
): readonly string[] {
  const missing = { name: 'types', argv: ['a-tool-that-nobody-has', '--strict'] };
  const config = {
    ...own,
    agents: connected.agents,
    setup,
    checks: [...checks, ...(isMissing ? [missing] : [])],
    sandbox: 'none',
    ...(gates === 'policy' && { gates: { design: 'auto', dag: 'auto' } }),
  };
  const file = join(user.root, '.devs', 'config.json');
  mkdirSync(join(user.root, '.devs'));
  writeFileSync(join(user.root, '.devs', '.gitignore'), '*\n');
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(join(user.root, '.devs', 'brief.md'), briefOf(job));
  return ['--trust', sha256Of(readFileSync(file))];
}

/** What a person went through. */
interface Course {
  readonly asked: readonly string[];
  readonly withoutNeed: readonly string[];
  readonly commandsPerGate: number;
  readonly answers: number;
  readonly isCompleted: boolean;
  readonly last: Typed;
}

const ROUTINE = ['design_approval', 'dag_approval'];

async function follow(person: Person, agent: TrialName, trust: readonly string[]): Promise<Course> {
  const needed = [...ROUTINE, ...(NEEDED_GATES[agent] ?? [])];
  const asked: string[] = [];
  const withoutNeed: string[] = [];
  let stops = 0;
  let commandsPerGate = 0;
  let answers = 0;
  const course = (last: Typed): Course => ({
    asked,
    withoutNeed,
    commandsPerGate,
    answers,
    isCompleted: last.exitCode === 0,
    last,
  });
  let now = await person.devs(...START, '--budget-calls', CALLS, ...trust);
  while (person.typed.length < PATIENCE) {
    if (now.exitCode === 0) return course(now);
    const gate = now.exitCode === RESUMABLE ? (await person.look(RUN)).gates[0] : undefined;
    if (gate === undefined) {
      const code = /\b([A-Z]+(?:_[A-Z]+)+):/.exec(now.stderr)?.[1] ?? `exit ${now.exitCode}`;
      asked.push(code);
      if (agent === MISSING_TOOL) return course(now);
      stops += 1;
      if (!MAY_STOP.has(agent) || stops > 1) {
        withoutNeed.push(code);
        return course(now);
      }
      now = await person.devs('resume', RUN, ...trust);
      continue;
    }
    asked.push(gate.kind);
    if (!needed.includes(gate.kind)) withoutNeed.push(gate.kind);
    if (!needed.includes(gate.kind) || agent === MISSING_TOOL) return course(now);
    const typed = person.typed.length;
    now = await decide(person, now, trust);
    const commands = person.typed.slice(typed);
    commandsPerGate = Math.max(commandsPerGate, commands.length);
    if (ROUTINE.includes(gate.kind)) answers += commands.filter(({ words }) => words[0] === 'answer').length;
  }
  return course(now);
}

const RESUMABLE = 75;

/** Types the first command that was printed, and goes on. */
async function decide(person: Person, shown: Typed, trust: readonly string[]): Promise<Typed> {
  const [, line = ''] = /^(?:accept|approve|continue): +devs (.+)$/m.exec(shown.stdout) ?? [];
  const words = line.split(' ').filter((word) => word !== '');
  if (words.length === 0) return shown;
  const decided = await person.devs(...words, ...(words.includes('--go') ? trust : []));
  if (words.includes('--go') || decided.exitCode !== 0) return decided;
  return person.devs('resume', RUN, ...trust);
}

interface Found {
  readonly course: Course;
  readonly verdict: Verdict;
  readonly agent: TrialAgent;
  readonly person: Person;
  readonly cost: Awaited<ReturnType<Person['look']>>['cost'];
  readonly broken: readonly string[];
}

function rowOf(
  {
    repository,
    agent: name,
    transport,
  }: { repository: Repository; agent: TrialName; transport: TransportName },
  { course, verdict, agent, person, cost, broken }: Found,
): Omit<Row, 'seconds'> {
  const { calls } = agent;
  const isWrong = verdict.wrong.length > 0;
  const right = isWrong ? 0 : verdict.commits;
  const isMissing = name === MISSING_TOOL;
  const refused = isMissing ? 0 : Math.max(0, honestAttempts(agent) - right);
  const whole = isMissing || (course.isCompleted && right > 0);
  const why = [
    ...verdict.wrong,
    ...broken,
    ...(whole ? [] : [`not finished: ${course.asked.at(-1) ?? 'nobody was asked'}`, tail(course.last)]),
  ];
  return {
    repository: repository.name,
    agent: name,
    transport,
    commits: { right, wrong: isWrong ? verdict.commits : 0 },
    refused: whole ? refused : Math.max(1, refused),
    paidBeforeTold: isMissing ? calls.length : 0,
    asked: course.asked,
    askedWithoutNeed: course.withoutNeed,
    commandsPerGate: course.commandsPerGate,
    answers: course.answers,
    calls: calls.length,
    requests: cost.requests,
    tokens: cost.tokensIn + cost.tokensOut,
    typed: person.typed.map(({ words }) => words.join(' ')),
    broken,
    why,
  };
}

/** Attempts at a task in which every stage did its best. */
function honestAttempts({ calls }: TrialAgent): number {
  const attempts: boolean[] = [];
  let before: string | null = null;
  for (const { stage, isHonest } of calls) {
    if (!['writeTest', 'implement', 'review', 'document'].includes(stage)) continue;
    const begins =
      stage === 'writeTest' || (stage === 'implement' && before !== 'writeTest') || before === null;
    if (begins) attempts.push(true);
    if (!isHonest) attempts[attempts.length - 1] = false;
    before = stage;
  }
  return attempts.filter(Boolean).length;
}

const tail = ({ words, stdout, stderr }: Typed): string =>
  `devs ${words[0]}: ${(stderr.trim() || stdout.trim()).slice(-600)}`;
