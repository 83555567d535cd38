import { Annotation, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { parseBrief } from '../../src/brief/brief.ts';
import { initialState } from '../../src/brief/initialState.ts';
import { loadOrchestratorConfig } from '../../src/config/orchestratorConfig.ts';
import {
  type Own,
  OwnState,
  type OwnUpdate,
  repeating,
  says,
  twoBranches,
  twoSteps,
} from '../../src/engine/__tests__/ownGraph.ts';
import { type DurableOptions, durable } from '../../src/engine/app/durable.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import type { Gate, GateAnswer } from '../../src/engine/gates/Gate.ts';
import { progress } from '../../src/engine/node/nodeContext.ts';
import { step } from '../../src/engine/node/step.ts';
import { EventBus } from '../../src/events/events.ts';
import { orchestrationApp } from '../../src/orchestration/graph.ts';
import type { StageAgents, TaskRequest } from '../../src/orchestration/ports.ts';
import { fakeAgents, MemoryWorkspace } from '../../src/testing/index.ts';

/** A run of an app on one connection. */
export interface Driven {
  readonly threadId: string;
  readonly events: EventBus;
  drive(): Promise<{ readonly status: string; readonly gates: readonly Gate[]; readonly values: unknown }>;
  decide(gate: Gate, answer: object): Promise<unknown>;
  values(): Promise<unknown>;
}

/** A run whose every part is a function of its state, so that it can be told twice. */
export interface RecordedRun {
  readonly name: string;
  /** Files of the run's folder; trees stay known over copies of the state file. */
  readonly workspace: MemoryWorkspace;
  readonly open: (db: Database, workspace: MemoryWorkspace) => Promise<Driven> | Driven;
  /** What the human says; depends on what is shown alone. */
  readonly answer: (gate: Gate) => object;
}

const ada = { kind: 'human', id: 'ada' } as const;
const yes = (gate?: Gate): object => (gate?.kind === 'interrupt' ? { value: true } : { approved: true });
const no = (gate?: Gate): object =>
  gate?.kind === 'interrupt' ? { value: false } : { approved: false, feedback: 'No.' };
const act = (action: string) => (): object => ({ action });

interface DrivableApp {
  readonly events: EventBus;
  run(id: string, input: OwnUpdate, options: object): ReturnType<Driven['drive']>;
  decide(gate: Gate, answer: { readonly by: typeof ada }): Promise<unknown>;
  values(id: string): Promise<unknown>;
}

function ownRun(
  name: string,
  answer: RecordedRun['answer'],
  make: () => object,
  options: Omit<DurableOptions<Own>, 'db' | 'file'> = {},
): RecordedRun {
  const open = (db: Database): Driven => {
    const app = durable(make() as ReturnType<typeof twoSteps>, { ...options, db }) as unknown as DrivableApp;
    return {
      threadId: 'run',
      events: app.events,
      drive: () => app.run('run', {}, { throwOnFailure: false }),
      decide: (gate, given) => app.decide(gate, { ...given, by: ada }),
      values: () => app.values('run'),
    };
  };
  return { name, answer, open, workspace: new MemoryWorkspace() };
}

/** Visits itself until it was there `times` times. */
const loop = (times: number, work: (round: number) => OwnUpdate | Promise<OwnUpdate> = () => ({})) =>
  new StateGraph(OwnState)
    .addNode('work', async ({ log }) => ({ ...(await work(log.length)), log: [`round ${log.length}`] }))
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ log }) => (log.length < times ? 'work' : END), ['work', END]);

const rewriting = () =>
  new StateGraph(OwnState)
    .addNode('write', ({ log }) => ({ log: [`draft ${log.length}`] }))
    .addNode('publish', () => ({ log: ['published'] }))
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addConditionalEdges('publish', ({ log }) => (log.at(-1) === 'published' ? END : 'write'), [
      'write',
      END,
    ]);

const fanOut = () =>
  new StateGraph(OwnState)
    .addNode('work', async ({ answer }) => ({ log: [await step('name', () => String(answer))] }))
    .addConditionalEdges(START, () => ['x', 'y', 'z'].map((answer) => new Send('work', { answer })), ['work'])
    .addEdge('work', END);

const Draft = Annotation.Root({ ...OwnState.spec, draft: Annotation<string>() });
const joined = () =>
  new StateGraph(Draft)
    .addNode('left', async () => ({ log: [await step('l', () => 'left')] }))
    .addNode('right', async () => ({ log: [await step('r', () => 'right')] }))
    .addNode('join', ({ log }) => ({ draft: [...log].sort().join() }))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addEdge(['left', 'right'], 'join')
    .addEdge('join', END);

const asks =
  (...questions: readonly string[]) =>
  () => ({ answer: questions.map((question) => interrupt<string, boolean>(question)) });

const show = ({ log }: Own): unknown => log;
const stuck = (word: string) => () => repeating({ log: [word] }, 1);
const both = { left: () => 'l', right: () => 'r' };
const firstDraftOnly = (gate: Gate): object => (gate.artifact === 'draft 0' ? no(gate) : yes(gate));

const OWN_RUNS: readonly RecordedRun[] = [
  ownRun('two nodes', yes, () => twoSteps()),
  ownRun('two branches', yes, () => twoBranches()),
  ownRun('branches that join', yes, joined),
  ownRun('a fan-out', yes, fanOut),
  ownRun('steps in a loop', yes, () =>
    loop(6, async (round) => ({ answer: await step('s', () => round * 2) })),
  ),
  ownRun('a node that fails', yes, () =>
    twoSteps(says('first'), () => {
      throw new Error('always');
    }),
  ),
  ownRun('a branch that fails', yes, () =>
    twoBranches(says('left'), () => {
      throw new Error('always');
    }),
  ),
  ownRun('a gate approved', yes, () => twoSteps(), { gates: { second: show } }),
  ownRun('a gate rejected', no, () => twoSteps(), { gates: { second: show } }),
  ownRun('two gates in a row', yes, () => twoSteps(), { gates: { first: () => 'go?', second: show } }),
  ownRun('gates of two branches', yes, () => twoBranches(), { gates: both }),
  ownRun(
    'one of two gates rejected',
    ({ artifact }) => (artifact === 'l' ? no() : yes()),
    () => twoBranches(),
    {
      gates: both,
    },
  ),
  ownRun('three gates of one node', yes, fanOut, { gates: { work: ({ answer }: Own) => answer } }),
  ownRun('a rejection that leads back', firstDraftOnly, rewriting, {
    gates: {
      publish: {
        show: ({ log }) => log.at(-1),
        onReject: (_state, feedback) => ({ log: [`note ${feedback}`] }),
      },
    },
  }),
  ownRun('a question inside a node', yes, () => twoSteps(asks('one?'))),
  ownRun('a no inside a node', no, () => twoSteps(asks('one?'))),
  ownRun(
    'three questions inside a node',
    (gate) => (gate.artifact === 'two?' ? no(gate) : yes(gate)),
    () => twoSteps(asks('one?', 'two?', 'three?')),
  ),
  ownRun('questions of two branches', yes, () => twoBranches(asks('left?'), says('right'))),
  ownRun('a failure gate, retried', act('retry'), () => twoSteps(stuck('first'))),
  ownRun('a failure gate, skipped', act('skip'), () => twoSteps(stuck('first'))),
  ownRun('a failure gate, aborted', act('abort'), () => twoSteps(stuck('first'))),
  ownRun('a failure gate at the end', act('retry'), () => twoSteps(says('first'), stuck('second'))),
  ownRun('a failure gate of two branches', act('retry'), () =>
    twoBranches(says('l'), says('r'), stuck('start')),
  ),
  ownRun('the depth question, granted twice', act('continue'), () => loop(9), { guards: { maxDepth: 4 } }),
  ownRun('the depth question, aborted', act('abort'), () => loop(9), { guards: { maxDepth: 4 } }),
  ownRun(
    'a long run with progress',
    act('abort'),
    () =>
      loop(9, (round) => {
        if (round % 3 === 0) progress();
        return {};
      }),
    { guards: { maxDepth: 5 } },
  ),
];

const AT = '2026-01-01T00:00:00.000Z';

interface PipelineRun {
  readonly tasks?: number;
  readonly answer?: RecordedRun['answer'];
  readonly agents?: Partial<StageAgents>;
  /** Checks that are red whatever was written. */
  readonly neverGreen?: boolean;
  readonly maxDepth?: number;
}

function pipelineRun(
  name: string,
  { tasks = 1, answer = yes, agents = {}, neverGreen = false, maxDepth = 25 }: PipelineRun,
): RecordedRun {
  const open = async (db: Database, workspace: MemoryWorkspace): Promise<Driven> => {
    const events = new EventBus();
    /** Red while there are more tests than implementations, so that the verdict is the tree's and not the call's. */
    const run = async () => {
      const files = await (await workspace.open('shop')).list();
      const count = (kind: string): number => files.filter((path) => path.startsWith(kind)).length;
      const passed = !neverGreen && count('implement/') >= count('test/');
      return {
        passed,
        exitCode: passed ? 0 : 1,
        timedOut: false,
        output: passed ? 'ok' : 'red',
        command: 'tree',
      };
    };
    const app = orchestrationApp(
      {
        agents: { ...fakeAgents({ tasks }), ...agents },
        workspace,
        checks: { run },
        now: () => Date.parse(AT),
      },
      { db, events, config: { ...loadOrchestratorConfig({}), maxRecursionDepth: maxDepth } },
    );
    const input = initialState('shop', parseBrief('# Shop\n\nSell things.'), AT);
    await internalsOf(app).recordRun({ threadId: 'shop', input });
    return {
      threadId: 'shop',
      events,
      drive: () => internalsOf(app).drive('shop'),
      decide: (gate, given) => app.decide(gate, { ...given, by: ada } as GateAnswer),
      values: () => app.values('shop'),
    };
  };
  return { name, answer, open, workspace: new MemoryWorkspace() };
}

const rejects =
  (kind: Gate['kind'], text: string): RecordedRun['answer'] =>
  (gate) =>
    gate.kind === kind && JSON.stringify(gate.artifact).includes(text) ? no() : yes();

const fails = async (): Promise<never> => {
  throw new TypeError('cannot read x of undefined');
};

/** Agents whose attempts throw the same error until one is told enough, and a pivot agent with these strategies. */
function stubborn(
  isEnough: (request: TaskRequest) => boolean,
  ...strategies: readonly string[]
): Partial<StageAgents> {
  const { implement, pivot = fails } = fakeAgents({ strategies });
  return {
    pivot,
    implement: (request, call) => (isEnough(request) ? implement(request, call) : fails()),
  };
}

const PIPELINE_RUNS: readonly RecordedRun[] = [
  pipelineRun('a pipeline of one task', {}),
  pipelineRun('a pipeline of two tasks', { tasks: 2 }),
  pipelineRun('a pipeline whose design is rejected once', { answer: rejects('design_approval', 'Design 1') }),
  pipelineRun('a pipeline with equal errors and no pivot agent', { agents: { implement: fails } }),
  pipelineRun('a pipeline whose pivot leads on', {
    agents: stubborn(({ strategy }) => strategy === 'B', 'A', 'B'),
  }),
  pipelineRun('exhausted pivots, a task tried again', {
    agents: stubborn(({ guidance }) => guidance.length > 0, 'A', 'a!', ' A '),
    answer: (gate) => (gate.kind === 'task_failure' ? { action: 'retry', guidance: 'Mind x.' } : yes()),
  }),
  pipelineRun('exhausted pivots, a task skipped', {
    tasks: 2,
    agents: stubborn(() => false, ''),
    answer: (gate) => (gate.kind === 'task_failure' ? { action: 'skip' } : yes()),
  }),
  pipelineRun('a pipeline whose review refuses, then repeats itself until a human gives the task up', {
    answer: (gate) => (gate.kind === 'task_failure' ? { action: 'skip' } : yes()),
    agents: { review: async ({ attempt }) => ({ approved: attempt > 1, comments: 'Again.' }) },
  }),
  pipelineRun('a pipeline whose checks are never green', {
    neverGreen: true,
    maxDepth: 6,
    answer: (gate) => (gate.kind === 'recursion_limit' ? { action: 'abort' } : yes()),
  }),
];

/** Every kind of node, gate and end, small. */
export const RECORDED_RUNS: readonly RecordedRun[] = [...OWN_RUNS, ...PIPELINE_RUNS];
