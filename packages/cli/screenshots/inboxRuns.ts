// Runs as a person finds them in the morning: a design, a plan after comments, code, a question of an own graph, one that
// stopped, one that runs. Of scripted agents; the engine, the gates and their facts are real.
import { join } from 'node:path';
import {
  type Checks,
  DevsError,
  type Gate,
  Orchestrator,
  type PlanResult,
  type Run,
  type StageAgents,
  type StartOptions,
} from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { waitingPost } from './waitingPost.ts';

const ADA = { kind: 'human', id: 'ada' } as const;
const MINUTE = 60_000;

interface Kept {
  readonly id: string;
  readonly title: string;
  /** Of the run's tasks, each after the one before. */
  readonly tasks: readonly string[];
  /** Since its last gate opened. */
  readonly minutesAgo: number;
  readonly limitUsd: number;
}

/** Fills a state folder with runs; one goes on until it is ended. */
export async function fillInbox(dir: string): Promise<() => Promise<void>> {
  await atCode(dir);
  await atPlan(dir);
  await atDesign(dir);
  await stopped(dir);
  (await waitingPost(join(dir, 'state.sqlite'))).close();
  return running(dir);
}

const TWO_TASKS = ['Read the client from the request', 'Count requests in a window'];

/** Its first task is done; the code of the second one waits. */
async function atCode(dir: string): Promise<void> {
  const kept = {
    ...{ id: 'rate-limits', title: 'Rate limits for the public API', minutesAgo: 41, limitUsd: 5 },
    tasks: [...TWO_TASKS, 'Answer 429 with Retry-After', 'Describe the limits'],
  };
  await withRun(dir, kept, async (run) => {
    for (const _ of ['the design', 'the plan', 'the first task']) await approve(run);
  });
}

/** Sent back with two comments, which the second version answers. */
async function atPlan(dir: string): Promise<void> {
  const kept = {
    ...{ id: 'csv-export', title: 'Export orders as CSV', minutesAgo: 6, limitUsd: 3 },
    tasks: ['Write one order as a line', 'Stream all orders', 'Offer the file for download'],
  };
  await withRun(dir, kept, async (run) => {
    await approve(run);
    const gate = await gateOf(run);
    const places = (await run.quotableSections(gate)).slice(0, 2);
    const comments = places.map(({ names: [name = ''], texts: [text] }) => ({
      ...{ in: name, quote: text.split('\n')[1] ?? '', text: 'Say which encoding.' },
    }));
    await run.decide(gate, { approved: false, comments, by: ADA });
    await run.resume();
  });
}

async function atDesign(dir: string): Promise<void> {
  const kept = { id: 'search', title: 'Whole words in search', tasks: [], minutesAgo: 4, limitUsd: 2 };
  await withRun(dir, kept, async () => undefined);
}

/** The provider of its model has failed. */
async function stopped(dir: string): Promise<void> {
  const kept = {
    ...{ id: 'typed-events', title: 'Typed events for the queue', minutesAgo: 55, limitUsd: 2 },
    tasks: ['Name the events', 'Check their payloads'],
  };
  const away = new DevsError("The model's provider answered 429 three times.", {
    code: 'AGENT_FAILED',
    remedy: 'Resume the run later: it goes on with the same call.',
  });
  await withRun(
    dir,
    kept,
    async (run) => {
      await approve(run);
      await approve(run).catch(() => undefined);
    },
    { implement: () => Promise.reject(away) },
  );
}

/** Has a process that works on its second task until the picture is taken. */
async function running(dir: string): Promise<() => Promise<void>> {
  const kept = {
    ...{ id: 'abort-queued', title: 'Abort signal for queued calls', minutesAgo: 0, limitUsd: 2 },
    tasks: ['Take a signal', 'Leave the queue at once', 'Tell why'],
  };
  const over = new AbortController();
  let works = (): void => undefined;
  const isWorking = new Promise<void>((resolve) => {
    works = resolve;
  });
  const base = scripted(kept);
  const agents: StageAgents = {
    ...base,
    implement: async (request, call) => {
      if (!request.task.taskId.endsWith(':2')) return base.implement(request, call);
      works();
      await new Promise((resolve) => over.signal.addEventListener('abort', resolve));
      throw new Error('Stopped.');
    },
  };
  const { devs, run } = await openRun(dir, kept, agents, {
    review: 'none',
    gates: { design: 'auto', dag: 'auto' },
  });
  const driven = run.resume({ signal: over.signal }).catch(() => undefined);
  await isWorking;
  return async () => {
    over.abort();
    await driven;
    devs.close();
  };
}

async function withRun(
  dir: string,
  kept: Kept,
  work: (run: Run) => Promise<void>,
  agents: Partial<StageAgents> = {},
): Promise<void> {
  const { devs, run } = await openRun(dir, kept, { ...scripted(kept), ...agents });
  await run.resume();
  await work(run);
  devs.close();
}

async function openRun(
  dir: string,
  { id, title, minutesAgo, limitUsd }: Kept,
  agents: StageAgents,
  start: Partial<StartOptions> = {},
): Promise<{ readonly devs: Orchestrator; readonly run: Run }> {
  const now = (): number => Date.now() - minutesAgo * MINUTE;
  const devs = await Orchestrator.open({
    dir,
    agents,
    workspace: new MemoryWorkspace(),
    checks: CHECKS,
    now,
  });
  const run = await devs.start({
    ...{ id, brief: `# ${title}\n`, review: 'task', budget: { usd: limitUsd } },
    ...start,
  });
  return { devs, run };
}

const gateOf = async (run: Run): Promise<Gate> => (await run.gates())[0] as Gate;

async function approve(run: Run): Promise<void> {
  await run.decide(await gateOf(run), { approved: true, by: ADA });
  await run.resume();
}

const scriptedResult = scriptedChecks();

/** Two checks, the first one with cases. */
const CHECKS: Checks = {
  run: async (request) => {
    const result = await scriptedResult.run(request);
    const { passed } = result;
    const cases = Array.from({ length: 37 }, (_, at) => ({
      name: `unit: case ${at + 1}`,
      state: passed || at > 0 ? ('passed' as const) : ('failed' as const),
    }));
    return {
      ...result,
      cases,
      parts: [
        { name: 'unit', kind: 'test', passed, command: 'npm test', durationMs: 640 },
        { name: 'lint', kind: 'lint', passed: true, command: 'npm run lint', durationMs: 1_210 },
      ],
    };
  },
};

/** Agents of a run: their work has lines, their calls a price. */
function scripted({ title, tasks }: Kept): StageAgents {
  const fake = fakeAgents({ tasks: tasks.length });
  const file = (path: string, lines: number, attempt = 1) => ({
    path,
    content: Array.from({ length: lines }, (_, at) => `line ${at + 1} of ${path}, ${attempt}\n`).join(''),
  });
  return {
    ...fake,
    design: async (_request, { usage }) => {
      usage({ tokensIn: 9_000, tokensOut: 2_000, costUsd: 0.06 });
      const text = (about: string): string => `# ${title}\n\n${about}\n`;
      return {
        documents: [
          { type: 'PRD', title: 'Product requirements', content: text('What people get.') },
          { type: 'TAS', title: 'Technical design', content: text('How it is built.') },
        ],
      };
    },
    distill: async ({ feedback }, { usage }) => {
      usage({ tokensIn: 12_000, tokensOut: 3_000, costUsd: 0.07 });
      return planOf(tasks, feedback === null || feedback === undefined ? '' : ' as UTF-8');
    },
    writeTest: async ({ task }, { usage }) => {
      usage({ tokensIn: 8_000, tokensOut: 1_000, costUsd: 0.04 });
      return { summary: 'Tests', files: [file(`test/${numberOf(task.taskId)}.test.ts`, 89)] };
    },
    implement: async ({ task, attempt }, { usage }) => {
      usage({ tokensIn: 20_000, tokensOut: 4_000, costUsd: 0.16 });
      const own = file(`src/part${numberOf(task.taskId)}.ts`, 57, attempt);
      return { summary: 'Code', files: [own, file('src/limits.ts', 44, Number(numberOf(task.taskId)))] };
    },
    document: async ({ task }) => ({
      summary: 'Words',
      files: [file(`docs/${numberOf(task.taskId)}.md`, 16)],
    }),
    review: async ({ task }) => ({
      approved: true,
      comments: 'Every case is covered.',
      evidence: (task.acceptanceCriteria ?? []).map((criterion) => ({
        criterion,
        shownBy: 'test/2.test.ts',
      })),
    }),
  };
}

const numberOf = (taskId: string): string => taskId.slice(taskId.lastIndexOf(':') + 1);

function planOf(names: readonly string[], added: string): PlanResult {
  const keyOf = (at: number): string => `task-${at + 1}`;
  const tasks = names.map((name, at) => ({
    ...{ key: keyOf(at), name, description: `${name}${added}, and nothing else.` },
    dependsOn: at === 0 ? [] : [keyOf(at - 1)],
    requirements: ['REQ-1'],
    acceptanceCriteria: ['It is tested.', 'It is described.', 'Nothing else changes.'],
  }));
  return {
    requirements: [{ externalId: 'REQ-1', description: 'It works as the brief says.' }],
    epics: [{ name: 'All of it', description: 'In this order.', tasks }],
  };
}
