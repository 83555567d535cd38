import { durable } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { PostgresRuns } from '../../src/PostgresRuns.ts';

const Work = Annotation.Root({
  run: Annotation<string>({ reducer: (_, next) => next, default: () => '' }),
  log: Annotation<readonly string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

/** What a node does: may never return. */
export type Act = (run: string, node: string) => Promise<void>;

/** A graph of three nodes, each an act and a checkpoint. */
export function workApp(runs: PostgresRuns, act: Act) {
  const node = (name: string) => async (state: typeof Work.State) => {
    await act(state.run, name);
    return { log: [name] };
  };
  const builder = new StateGraph(Work)
    .addNode('first', node('first'))
    .addNode('second', node('second'))
    .addNode('third', node('third'))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', 'third')
    .addEdge('third', END);
  return durable(builder, { runs, graph: 'work' });
}

export type WorkApp = ReturnType<typeof workApp>;
