import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Report = Annotation.Root({
  city: Annotation<string>(),
  weather: Annotation<string>(),
  report: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Report)
    .addNode(
      'forecast',
      async ({ city }) => {
        await step('log', ({ key }) => world.send(`request for ${city}`, key));
        return { weather: await step('weather', ({ key }) => world.weather(city, key)) };
      },
      { retryPolicy: { maxAttempts: 3, initialInterval: 10, jitter: false, logWarning: false } },
    )
    .addNode('write', async ({ weather }) => ({
      report: await step('llm', ({ key }) => world.model(`It is ${weather}`, key)),
    }))
    .addEdge(START, 'forecast')
    .addEdge('forecast', 'write')
    .addEdge('write', END);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { city: 'Bern' };
export const ends = { weather: 'sunny in Bern', report: 'It is sunny in Bern' };
