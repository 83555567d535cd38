import { type Profiler, Session } from 'node:inspector';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const SOURCE = /\/packages\/core\/src\/(.+)$/;

/** Calls of functions, by source file. */
export type Calls = ReadonlyMap<string, number>;

/** What is looked at: a visit, and whether its node makes a recorded call. */
export interface Looked {
  /** `visit`: from its entry to its exit. `round`: from the start of its node's work to the next such start, LangGraph's part in between. */
  readonly from: 'visit' | 'round';
  readonly withStep: boolean;
}

const Counting = Annotation.Root({ visits: Annotation<number>() });

/** A task's node, as LangGraph calls it. */
interface BoundNode {
  readonly bound: { func: (...args: unknown[]) => Promise<unknown> };
}

/**
 * Source files of the engine in which every visit of a run calls a function, by V8's counts: what falls into one visit and
 * not into another is a timer's.
 */
export async function roomsOf({ from, withStep }: Looked, visits: number): Promise<Calls> {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const entered: Calls[] = [];
  const builder = new StateGraph(Counting)
    .addNode('count', async ({ visits: known }) => {
      if (from === 'round') entered.push(takeCalls(session));
      if (withStep) await step('ask', async () => 'an answer');
      return { visits: known + 1 };
    })
    .addEdge(START, 'count')
    .addConditionalEdges('count', ({ visits: known }) => (known < visits ? 'count' : END), ['count', END]);
  const db = createDatabase({ dbPath: ':memory:' });
  const app = durable(builder, { db, guards: { maxDepth: visits + 1 } });
  if (from === 'visit') {
    const { bound } = app.graph.nodes.count as unknown as BoundNode;
    const { func } = bound;
    bound.func = async (...args) => {
      await committed();
      takeCalls(session);
      const result = await func.apply(bound, args);
      entered.push(takeCalls(session));
      return result;
    };
  }
  await app.run('rooms', { visits: 0 });
  app.close();
  db.close();
  session.disconnect();
  const [first, ...others] = entered.slice(1); // before the first round, the run was started
  return new Map([...(first ?? [])].filter(([file]) => others.every((calls) => calls.has(file))));
}

/** The checkpoint before a visit is written with its Thought, or when the event loop has turned: it is no part of the visit. */
const committed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What was called since it was asked last. */
function takeCalls(session: Session): Calls {
  let scripts: readonly Profiler.ScriptCoverage[] = [];
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error;
    scripts = result;
  });
  return new Map(
    scripts.flatMap(({ url, functions }) => {
      const file = SOURCE.exec(url)?.[1];
      // A function without a name is a part of the one around it.
      const named = functions.filter(({ functionName }) => functionName !== '');
      const calls = named.reduce((sum, { ranges: [whole] }) => sum + (whole?.count ?? 0), 0);
      return file === undefined || calls === 0 ? [] : [[file, calls] as const];
    }),
  );
}
