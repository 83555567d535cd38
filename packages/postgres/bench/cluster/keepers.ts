import { join } from 'node:path';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { durable, step } from '@devs/core/langgraph';
import { createDatabase } from '@devs/core/state';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { postgres } from '../../src/postgres.ts';
import { proseOf } from './prose.ts';

/** Who keeps runs, and how. `devs cluster` is what is measured; the others are beside it. */
export const KEEPERS = [
  'devs cluster',
  'devs file, no fsync',
  'devs file, FULL',
  'LangGraph PostgresSaver',
  'LangGraph in memory',
  'DBOS',
] as const;
export type KeeperName = (typeof KEEPERS)[number];

export interface Shape {
  /** Super-steps of a run. */
  readonly steps: number;
  /** Whether each makes a call whose result is recorded, where the keeper can. */
  readonly calls: boolean;
}

export interface Keeper {
  /** Makes ready what one run begins with: not timed. */
  prepare(id: string): Promise<void>;
  run(id: string): Promise<void>;
  /** Frees the memory of an ended run, after its lap. */
  forget(id: string): Promise<void>;
  close(): Promise<void>;
}

export interface Place {
  readonly url: string;
  readonly dir: string;
}

/** Never changes in a run. */
const STABLE = proseOf(0, 100 * 1024);
const answer = (n: number): string => proseOf(n, 1024);

const Bench = Annotation.Root({
  stable: Annotation<string>(),
  visits: Annotation<number>(),
  small: Annotation<string>(),
});

const graphOf = ({ steps }: Shape, call: (n: number) => Promise<string>) =>
  new StateGraph(Bench)
    .addNode('work', async ({ visits }) => ({ visits: visits + 1, small: await call(visits) }))
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ visits }) => (visits < steps ? 'work' : END), ['work', END]);

const input = { stable: STABLE, visits: 0, small: '' };
const plain = async (n: number): Promise<string> => answer(n);
const recorded = (n: number): Promise<string> => step('call', () => answer(n));

export async function openKeeper(name: KeeperName, shape: Shape, place: Place): Promise<Keeper> {
  switch (name) {
    case 'devs cluster':
      return cluster(shape, place);
    case 'devs file, no fsync':
      return file(shape, place, 'OFF');
    case 'devs file, FULL':
      return file(shape, place, 'FULL');
    case 'LangGraph PostgresSaver':
      return official(shape, place);
    case 'LangGraph in memory':
      return langGraph(shape, new MemorySaver(), async () => {});
    case 'DBOS':
      return dbos(shape);
  }
}

const NOTHING = async (): Promise<void> => undefined;

const guards = ({ steps }: Shape) => ({ maxDepth: steps + 1 });
const callOf = ({ calls }: Shape) => (calls ? recorded : plain);

function cluster(shape: Shape, { url, dir }: Place): Keeper {
  const app = durable(graphOf(shape, callOf(shape)), {
    runs: postgres({ url, dir }),
    graph: 'bench',
    guards: guards(shape),
  });
  return {
    prepare: (id) => app.start(id, input),
    run: async (id) => assertVisited((await app.run(id)).values, shape),
    forget: NOTHING,
    close: async () => app.close(),
  };
}

function file(shape: Shape, { dir }: Place, synchronous: string): Keeper {
  const db = createDatabase({
    dbPath: join(dir, `embedded-${synchronous}-${shape.calls}-${shape.steps}.sqlite`),
  });
  db.pragma(`synchronous = ${synchronous}`);
  const app = durable(graphOf(shape, callOf(shape)), { db, guards: guards(shape) });
  return {
    prepare: (id) => app.start(id, input),
    run: async (id) => assertVisited((await app.run(id)).values, shape),
    forget: NOTHING,
    close: async () => {
      app.close();
      db.close();
    },
  };
}

async function official(shape: Shape, { url }: Place): Promise<Keeper> {
  const saver = PostgresSaver.fromConnString(url);
  await saver.setup();
  return langGraph(shape, saver, () => saver.end());
}

function langGraph(
  shape: Shape,
  checkpointer: MemorySaver | PostgresSaver,
  close: () => Promise<void>,
): Keeper {
  const graph = graphOf(shape, plain).compile({ checkpointer });
  const config = { durability: 'sync', recursionLimit: 100_000 } as const;
  return {
    prepare: async () => undefined,
    run: async (id) =>
      assertVisited(await graph.invoke(input, { ...config, configurable: { thread_id: id } }), shape),
    // In memory each of its checkpoints has a copy of the whole state: gigabytes, that slow down the next keeper.
    forget: async (id) => (checkpointer instanceof MemorySaver ? checkpointer.deleteThread(id) : undefined),
    close,
  };
}

/** Steps of a workflow: it has no state beside them. */
function dbos({ steps }: Shape): Keeper {
  const work = dbosWorkflow();
  return {
    prepare: async () => undefined,
    run: async (id) => {
      const handle = await DBOS.startWorkflow(work, { workflowID: id })(STABLE, steps);
      if ((await handle.getResult()) !== steps) throw new Error('The workflow has not done its steps.');
    },
    forget: NOTHING,
    close: async () => undefined,
  };
}

let workflow: ((stable: string, steps: number) => Promise<number>) | null = null;

function dbosWorkflow(): (stable: string, steps: number) => Promise<number> {
  workflow ??= DBOS.registerWorkflow(
    async (_stable: string, steps: number) => {
      for (let n = 0; n < steps; n += 1) await DBOS.runStep(() => plain(n), { name: 'call' });
      return steps;
    },
    { name: 'work' },
  );
  return workflow;
}

/** Once for a process, before the first keeper. */
export async function startDbos(url: string): Promise<() => Promise<void>> {
  dbosWorkflow();
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', runAdminServer: false });
  await DBOS.launch();
  return () => DBOS.shutdown();
}

function assertVisited(values: unknown, { steps }: Shape): void {
  if ((values as { readonly visits?: number } | null)?.visits !== steps)
    throw new Error(`Expected ${steps} visits, got ${JSON.stringify(values)?.slice(0, 200)}.`);
}
