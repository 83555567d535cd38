import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Joke = Annotation.Root({
  topic: Annotation<string>(),
  joke: Annotation<string>(),
  improved: Annotation<string>(),
  final: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Joke)
    .addNode('write', async ({ topic }) => ({
      joke: await step('llm', ({ key }) => world.model(`A joke about ${topic}`, key)),
    }))
    .addNode('improve', async ({ joke }) => ({
      improved: await step('llm', ({ key }) => world.model(`Make it funnier: ${joke}`, key)),
    }))
    .addNode('polish', async ({ improved }) => ({
      final: await step('llm', ({ key }) => world.model(`Add a twist: ${improved}`, key)),
    }))
    .addEdge(START, 'write')
    .addConditionalEdges('write', ({ joke }) => (joke.endsWith('!') ? END : 'improve'), ['improve', END])
    .addEdge('improve', 'polish')
    .addEdge('polish', END);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { topic: 'cats' };
export const model = (prompt: string) => `${prompt.split(':')[0]}?`;
export const ends = { joke: 'A joke about cats?', improved: 'Make it funnier?', final: 'Add a twist?' };
