// The pipeline of the kinds that are runs of it. Frozen as they are.
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { GitWorkspace } from '@devs/agents';
import {
  type AgentCall,
  type Budget,
  type Checks,
  Orchestrator,
  type Run,
  type StageAgents,
  type StartOptions,
  type TaskRequest,
  type WorkResult,
  type Workspace,
} from '@devs/core';
import { MemoryWorkspace } from '@devs/core/testing';
import { Ledger } from './Ledger.ts';
import { type OpenRun, RUN } from './OpenRun.ts';
import { longText, sha256 } from './texts.ts';

type ReviewScope = Exclude<NonNullable<StartOptions['review']>, 'none'>;

export interface PipelineOptions {
  /** Of the plan, each after the one before. @defaultValue 1 */
  readonly tasks?: number;
  /** Gates that wait for a human; a policy approves the others. @defaultValue none */
  readonly human?: 'design' | 'dag';
  readonly review?: ReviewScope;
  readonly budget?: Budget;
  /** Nothing is implemented before a human gives guidance. */
  readonly isStuck?: true;
  /** The folder is a repository of the user's. */
  readonly isRepository?: true;
  /** The files are not on a disk: of a run that waits before it has any. */
  readonly isInMemory?: true;
  readonly workspace?: (files: Workspace) => Workspace;
}

/** By the folder of a run: they live as long as the process. */
const inMemory = new Map<string, MemoryWorkspace>();

function memoryOf(dir: string): MemoryWorkspace {
  const files = inMemory.get(dir) ?? new MemoryWorkspace();
  inMemory.set(dir, files);
  return files;
}

/** What the stages before the first task call. */
export const PLANNING: readonly string[] = ['research', 'design', 'distill'];

/** What one turn of a task calls. */
export const turnOf = (task: string): readonly string[] => [
  `test ${task}`,
  `implement ${task}`,
  `review ${task}`,
  `document ${task}`,
];

/** Calls with every review before its documentation, as releases made them that did not review what is documented. */
export function reviewedFirst(calls: readonly string[]): readonly string[] {
  const ordered = [...calls];
  for (const [at, call] of ordered.entries()) {
    const [document = '', task = ''] = call.split(' ');
    if (document !== 'document' || ordered[at + 1] !== `review ${task}`) continue;
    ordered.splice(at, 2, `review ${task}`, call);
  }
  return ordered;
}

/** What a run comes to whose tasks are done: each with the call, counted from 1, that wrote its files. */
export function doneTasks(callOf: Readonly<Record<string, number>>) {
  const names = Object.keys(callOf);
  const texts = (step: string) =>
    names.map((name) => [`${step}/${name}.txt`, `${step} ${name}, call ${callOf[name]}\n`] as const);
  return {
    commits: names,
    documents: ['BRIEF 407c504e', 'RESEARCH 620d802a', 'PRD 6f2289c7'],
    tasks: names.map((name) => `${name} completed`),
    files: Object.fromEntries(['document', 'implement', 'test'].flatMap(texts)),
  };
}

export interface OpenPipeline {
  readonly run: Run;
  readonly opened: OpenRun;
}

export async function openPipeline(dir: string, options: PipelineOptions = {}): Promise<OpenPipeline> {
  const { human, review, budget, isRepository, isInMemory, workspace = (files) => files } = options;
  const git = new GitWorkspace({ dir, ...(isRepository && { repository: dir }) });
  const files = isInMemory ? memoryOf(dir) : git;
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: ledgerAgents(new Ledger(dir), options),
    workspace: workspace(files),
    checks: isInMemory ? memoryChecks(files) : diskChecks,
  });
  const run = await devs.start({
    id: RUN,
    brief: '# Greetings\n\nSay hello in many words.\n',
    gates: { design: human === 'design' ? 'human' : 'auto', dag: human === 'dag' ? 'human' : 'auto' },
    ...(review && { review }),
    ...(budget && { budget }),
  });
  const opened: OpenRun = {
    gates: () => run.gates(),
    decide: (gate, answer) => run.decide(gate, answer),
    drive: async () => {
      const { status, commits } = await run.resume();
      const subjects = commits.map(({ subject }) => subject);
      return { status, outcome: { commits: subjects, ...(await madeBy(run, files)) } };
    },
    close: () => devs.close(),
  };
  return { run, opened };
}

/** What a run has come to: its documents by their hash, its tasks and its files. */
async function madeBy(run: Run, workspace: Workspace) {
  const state = await run.state();
  const folder = await workspace.open(RUN);
  const paths = (await folder.list()).filter((path) => path.endsWith('.txt'));
  const files = await Promise.all(paths.map(async (path) => [path, await folder.read(path)] as const));
  return {
    documents: (state?.documents ?? []).map(({ type, content }) => `${type} ${sha256(content).slice(0, 8)}`),
    tasks: (state?.tasks ?? []).map(({ name, status }) => `${name} ${status}`),
    files: Object.fromEntries(files),
  };
}

/** Large enough to be kept as a blob. */
const DESIGN_LINES = 130;

function ledgerAgents(ledger: Ledger, { tasks = 1, isStuck }: PipelineOptions): StageAgents {
  const document = (type: string, content: string) => ({ documents: [{ type, title: type, content }] });
  const work =
    (step: string) =>
    ({ task }: TaskRequest, { idempotencyKey }: AgentCall): Promise<WorkResult> => {
      const what = `${step} ${task.name}`;
      const path = `${step}/${task.name}.txt`;
      const files = [{ path, content: `${what}, call ${ledger.count(what) + 1}\n` }];
      return ledger.call(what, idempotencyKey, { summary: what, files });
    };
  return {
    name: 'statefiles',
    provenance: 'scripted',
    research: (_, { idempotencyKey }) =>
      ledger.call('research', idempotencyKey, document('RESEARCH', 'Hello is said everywhere.')),
    design: ({ feedback }, { idempotencyKey }) =>
      ledger.call(
        'design',
        idempotencyKey,
        document('PRD', `${longText('design', DESIGN_LINES)}${feedback ?? ''}`),
      ),
    distill: (_, { idempotencyKey }) => ledger.call('distill', idempotencyKey, planOf(tasks)),
    writeTest: work('test'),
    implement: (request, call) =>
      isStuck && request.guidance.length === 0
        ? ledger.call('try', call.idempotencyKey, { summary: 'Nothing.', files: [] })
        : work('implement')(request, call),
    review: ({ task }, { idempotencyKey }) =>
      ledger.call(`review ${task.name}`, idempotencyKey, { approved: true, comments: 'Fine.' }),
    document: work('document'),
  };
}

function planOf(tasks: number) {
  const names = Array.from({ length: tasks }, (_, index) => `T${index + 1}`);
  return {
    requirements: [{ externalId: 'REQ-1', description: 'It greets.' }],
    epics: [
      {
        name: 'Greetings',
        description: 'All of them.',
        tasks: names.map((name, index) => ({
          key: name,
          name,
          description: `Greet as ${name}.`,
          dependsOn: names.slice(Math.max(0, index - 1), index),
          requirements: ['REQ-1'],
          acceptanceCriteria: ['It greets.'],
        })),
      },
    ],
  };
}

/** Judges by the files alone, so in every process the same: red while a test has no implementation. */
const verdictOn = (tests: readonly string[], implemented: readonly string[]) => {
  const missing = tests.filter((name) => !implemented.includes(name));
  const passed = missing.length === 0;
  const output = passed ? 'ok' : `not implemented: ${missing.join(', ')}`;
  return { passed, exitCode: passed ? 0 : 1, timedOut: false, output, command: 'tree' };
};

const diskChecks: Checks = {
  run: async ({ dir }) => {
    const namesIn = (folder: string): readonly string[] =>
      existsSync(join(dir, folder)) ? readdirSync(join(dir, folder)) : [];
    return verdictOn(namesIn('test'), namesIn('implement'));
  },
};

const memoryChecks = (workspace: Workspace): Checks => ({
  run: async () => {
    const paths = await (await workspace.open(RUN)).list();
    const namesIn = (folder: string): readonly string[] =>
      paths.filter((path) => path.startsWith(`${folder}/`)).map((path) => basename(path));
    return verdictOn(namesIn('test'), namesIn('implement'));
  },
});
