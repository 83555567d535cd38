import {
  Annotation,
  END,
  getStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { durable, step } from '../../src/langgraph.ts';

export const VISITS = ['users', 'ada'];

const State = Annotation.Root({ count: Annotation<number>() });

/** A graph that counts a visit in the store: reads, and puts one more. `onPut` is called before the node returns. */
export function countedVisits(file: string, read: 'in a step' | 'anew', onPut: () => void = () => {}) {
  const visit = async (_: unknown, { store }: LangGraphRunnableConfig) => {
    const visits = async () =>
      ((await store?.get(VISITS, 'visits'))?.value['count'] as number | undefined) ?? 0;
    const before = read === 'anew' ? await visits() : await step('visits', visits, { kind: 'work' });
    await getStore()?.put(VISITS, 'visits', { count: before + 1 });
    onPut();
    return { count: before + 1 };
  };
  const graph = new StateGraph(State).addNode('visit', visit).addEdge(START, 'visit').addEdge('visit', END);
  return durable(graph, { file, store: 'file' });
}
