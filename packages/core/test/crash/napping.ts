import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import { sleep } from '../../src/engine/node/waitFor.ts';

const State = Annotation.Root({ woken: Annotation<number>() });

/** Runs that sleep for an hour, and work for a moment afterwards. */
export function napping(file: string, now: () => number) {
  const nap = async () => {
    await sleep(3_600_000);
    await step('work', () => new Promise((resolve) => setTimeout(resolve, 5)));
    return { woken: 1 };
  };
  const graph = new StateGraph(State).addNode('nap', nap).addEdge(START, 'nap').addEdge('nap', END);
  return durable(graph, { file, now });
}
