import { durable, step } from '@devs/core/langgraph';
import { Annotation, Command, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Trip = Annotation.Root({
  wish: Annotation<string>(),
  booked: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

export const graph = (world: World) => {
  /** An agent: thinks, acts, and hands over to whom the model names, out of its own graph. */
  const agent = (name: string) =>
    new StateGraph(Trip)
      .addNode('act', async ({ wish }) => {
        const what = await step('llm', ({ key }) => world.model(`${name}: ${wish}`, key));
        return { booked: [await step('book', ({ key }) => world.send(what, key))] };
      })
      .addNode('handOver', async ({ booked }) => {
        const goto = await step('llm', ({ key }) => world.model(`Next after ${booked.length}?`, key));
        return new Command({ goto, graph: Command.PARENT, update: { booked: booked.slice(-1) } });
      })
      .addEdge(START, 'act')
      .addEdge('act', 'handOver')
      .compile();
  return new StateGraph(Trip)
    .addNode('flights', agent('flights'), { ends: ['hotels', '__end__'] })
    .addNode('hotels', agent('hotels'), { ends: ['flights', '__end__'] })
    .addEdge(START, 'flights');
};

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { wish: 'a week in Rome' };
export const model = (prompt: string) => {
  if (!prompt.startsWith('Next')) return prompt.replace(':', ' for');
  return prompt.includes('1') ? 'hotels' : '__end__';
};
export const ends = {
  booked: ['receipt of flights for a week in Rome', 'receipt of hotels for a week in Rome'],
};
