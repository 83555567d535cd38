import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const State = Annotation.Root({ id: Annotation<string>(), ended: Annotation<boolean>() });

/** Runs of two calls, in a node each. */
export function countingApp(file: string, call: (id: string, name: string) => Promise<void>) {
  const graph = new StateGraph(State)
    .addNode('one', async ({ id }) => {
      await step('a', () => call(id, 'a'));
      return {};
    })
    .addNode('two', async ({ id }) => {
      await step('b', () => call(id, 'b'));
      return { ended: true };
    })
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', END);
  return durable(graph, { file });
}
