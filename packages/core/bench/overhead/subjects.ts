import { join } from 'node:path';
import { Annotation, Command, END, INTERRUPT, isInterrupted, START, StateGraph } from '@langchain/langgraph';
import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { parseBrief } from '../../src/brief/brief.ts';
import { initialState } from '../../src/brief/initialState.ts';
import { loadOrchestratorConfig } from '../../src/config/orchestratorConfig.ts';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { step } from '../../src/engine/node/step.ts';
import { orchestrationApp, orchestrationBuilder } from '../../src/orchestration/graph.ts';
import type { GraphState } from '../../src/orchestration/types.ts';

/** How a run is kept: by this engine, by LangGraph's own savers, or in memory only. */
export const KEEPERS = ['devs normal', 'devs full', 'official normal', 'official full', 'memory'] as const;
/** The first two, with a key. */
export const ENCRYPTED = ['devs normal encrypted', 'devs full encrypted'] as const;
export type Keeper = (typeof KEEPERS)[number] | (typeof ENCRYPTED)[number];

/** One run, ready to go: what is timed is `run` alone. */
export interface Prepared {
  /** `null` in memory. */
  readonly db: Database | null;
  run(): Promise<void>;
  close(): void;
}

export interface Subject {
  readonly name: string;
  /** Super-steps of one run. */
  readonly steps: number;
  prepare(keeper: Keeper, folder: string): Promise<Prepared>;
}

const RUN = 'bench';
const KEY = new Uint8Array(32).fill(7);
const AT = '2026-01-02T03:04:05.000Z';
const PLAIN = { configurable: { thread_id: RUN }, durability: 'sync', recursionLimit: 100_000 } as const;

/** The pipeline without agents, both gates included, over a plan of `tasks` tasks in a row. */
export function pipeline(tasks: number): Subject {
  return {
    name: `pipeline without agents, ${tasks} tasks`,
    steps: 5 + 2 * tasks,
    prepare: async (keeper, folder) => (isDevs(keeper) ? devsPipeline : plainPipeline)(keeper, folder, tasks),
  };
}

/** A graph of one's own that visits one node `visits` times; each visit makes one call that answers 1 KiB. */
export function ownGraph(visits: number, { isRecorded = true } = {}): Subject {
  const call = isRecorded ? () => step('model', callModel) : callModel;
  return {
    name: `own graph, ${visits} visits with one ${isRecorded ? 'recorded step' : 'call'} each`,
    steps: visits,
    prepare: async (keeper, folder) =>
      isDevs(keeper)
        ? devsOwnGraph(openDevs(keeper, folder), counting(visits, call), visits)
        : plainOwnGraph(keeper, folder, visits),
  };
}

const isDevs = (keeper: Keeper): boolean => keeper.startsWith('devs');

async function devsPipeline(keeper: Keeper, folder: string, tasks: number): Promise<Prepared> {
  const db = openDevs(keeper, folder);
  const app = orchestrationApp(null, { db, config: loadOrchestratorConfig({}) });
  const gates = { design: 'auto', dag: 'auto' };
  await internalsOf(app).recordRun({ threadId: RUN, policies: { gates }, input: planned(tasks) });
  return prepared(db, async () => assertEnded((await internalsOf(app).drive(RUN)).values, tasks));
}

async function plainPipeline(keeper: Keeper, folder: string, tasks: number): Promise<Prepared> {
  const { db, saver } = openPlain(keeper, folder);
  const graph = orchestrationBuilder(null).compile({ checkpointer: saver });
  return prepared(db, async () => {
    let values: unknown = await graph.invoke(planned(tasks), PLAIN);
    while (isInterrupted(values) && values[INTERRUPT].length > 0) {
      values = await graph.invoke(new Command({ resume: { approved: true, approvedAt: AT } }), PLAIN);
    }
    assertEnded(values, tasks);
  });
}

const Counting = Annotation.Root({ visits: Annotation<number>(), answer: Annotation<string>() });

const ANSWER = 'The answer of a model, as long as a short paragraph usually is. '.repeat(16);
const callModel = async (): Promise<string> => ANSWER;

function counting(limit: number, call: () => Promise<string>) {
  return new StateGraph(Counting)
    .addNode('work', async ({ visits }) => ({ visits: visits + 1, answer: `${visits} ${await call()}` }))
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ visits }) => (visits < limit ? 'work' : END), ['work', END]);
}

async function devsOwnGraph(
  db: Database,
  builder: ReturnType<typeof counting>,
  visits: number,
): Promise<Prepared> {
  const app = durable(builder, { db, guards: { maxDepth: visits + 1 } });
  return prepared(db, async () => assertVisited((await app.run(RUN, { visits: 0 })).values, visits));
}

async function plainOwnGraph(keeper: Keeper, folder: string, visits: number): Promise<Prepared> {
  const { db, saver } = openPlain(keeper, folder);
  const graph = counting(visits, callModel).compile({ checkpointer: saver });
  return prepared(db, async () => assertVisited(await graph.invoke({ visits: 0 }, PLAIN), visits));
}

function openDevs(keeper: Keeper, folder: string): Database {
  const dbPath = join(folder, 'state.sqlite');
  return createDatabase({
    dbPath,
    synchronous: keeper.startsWith('devs full') ? 'full' : 'normal',
    ...(keeper.endsWith('encrypted') && { encryptionKey: KEY }),
  });
}

function openPlain(
  keeper: Keeper,
  folder: string,
): { readonly db: Database | null; readonly saver: BaseCheckpointSaver } {
  if (keeper === 'memory') return { db: null, saver: new MemorySaver() };
  const db = new BetterSqlite3(join(folder, 'state.sqlite'));
  const saver = new OfficialSaver(db);
  // Its tables are made on first use; that and the switch to WAL are not what is timed.
  (saver as unknown as { setup(): void }).setup();
  db.pragma(`synchronous = ${keeper === 'official full' ? 'FULL' : 'NORMAL'}`);
  return { db, saver };
}

function prepared(db: Database | null, run: () => Promise<void>): Prepared {
  return { db, run, close: () => db?.close() };
}

function planned(tasks: number): GraphState {
  const brief = `# Shop\n\n${'Sell things, and say what was sold to whom. '.repeat(40)}`;
  const epicId = `${RUN}/epic-1`;
  return {
    ...initialState(RUN, parseBrief(brief), AT),
    epics: [
      {
        ...{ epicId, projectId: RUN, name: 'Epic', description: 'All of it.' },
        ...{ status: 'pending', phaseNumber: 1, requirementIds: [] },
      },
    ],
    tasks: Array.from({ length: tasks }, (_, index) => ({
      ...{ taskId: `${RUN}:${index + 1}`, epicId, name: `Task ${index + 1}`, agentRole: 'developer' },
      ...{ description: `Do part ${index + 1} of the whole, and test it.`, status: 'pending' },
      dependsOn: index === 0 ? [] : [`${RUN}:${index}`],
    })),
  };
}

function assertEnded(values: unknown, tasks: number): void {
  const done = (values as GraphState).tasks.filter(({ status }) => status === 'completed').length;
  if (done !== tasks) throw new Error(`The run ended with ${done} of ${tasks} tasks completed.`);
}

function assertVisited(values: unknown, visits: number): void {
  const done = (values as { readonly visits?: number } | null)?.visits;
  if (done !== visits) throw new Error(`The run ended after ${done} of ${visits} visits.`);
}
