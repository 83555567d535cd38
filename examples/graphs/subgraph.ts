import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Trip = Annotation.Root({
  city: Annotation<string>(),
  ticket: Annotation<string>(),
  note: Annotation<string>(),
});
const Search = Annotation.Root({
  query: Annotation<string>(),
  offers: Annotation<string>(),
  chosen: Annotation<string>(),
});

export const graph = (world: World) => {
  const search = new StateGraph(Search)
    .addNode('look', async ({ query }) => ({
      offers: await step('llm', ({ key }) => world.model(`Trains: ${query}`, key)),
    }))
    .addNode('choose', ({ offers }) => ({
      chosen: interrupt<object, string>({ question: 'Which?', offers }),
    }))
    .addNode('hold', async ({ chosen }) => {
      await step('hold', ({ key }) => world.send(`hold ${chosen}`, key));
      return {};
    })
    .addEdge(START, 'look')
    .addEdge('look', 'choose')
    .addEdge('choose', 'hold')
    .addEdge('hold', END)
    .compile();
  return new StateGraph(Trip)
    .addNode('book', async ({ city }) => {
      const { chosen } = await search.invoke({ query: `to ${city}` });
      return { ticket: await step('book', ({ key }) => world.send(`ticket ${chosen}`, key)) };
    })
    .addNode('tell', async ({ ticket }) => ({
      note: await step('mail', ({ key }) => world.send(`mail about ${ticket}`, key)),
    }))
    .addEdge(START, 'book')
    .addEdge('book', 'tell')
    .addEdge('tell', END);
};

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { city: 'Bern' };
export const model = () => '9:00, 10:30';
export const answers = ['10:30'];
export const ends = { city: 'Bern', ticket: 'receipt of ticket 10:30' };
