import { type Profiler, Session } from 'node:inspector';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const SOURCE = /\/packages\/core\/src\/(.+)$/;

/** Calls of functions, by source file. */
export type Calls = ReadonlyMap<string, number>;

const Counting = Annotation.Root({ visits: Annotation<number>() });

/**
 * What the visits of one run enter, each from the start of its node's work to the next such start: source files of the engine
 * in which a function is called, by V8's call counts. The node makes one recorded call.
 */
export async function roomsOfVisits(visits: number): Promise<readonly Calls[]> {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const entered: Calls[] = [];
  const builder = new StateGraph(Counting)
    .addNode('count', async ({ visits: known }) => {
      entered.push(takeCalls(session));
      await step('ask', async () => 'an answer');
      return { visits: known + 1 };
    })
    .addEdge(START, 'count')
    .addConditionalEdges('count', ({ visits: known }) => (known < visits ? 'count' : END), ['count', END]);
  const db = createDatabase({ dbPath: ':memory:' });
  const app = durable(builder, { db, guards: { maxDepth: visits + 1 } });
  await app.run('rooms', { visits: 0 });
  app.close();
  db.close();
  session.disconnect();
  return entered.slice(1); // before the first one, the run was started
}

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
      const calls = functions.reduce((sum, { ranges: [whole] }) => sum + (whole?.count ?? 0), 0);
      return file === undefined || calls === 0 ? [] : [[file, calls] as const];
    }),
  );
}
