import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Joke = Annotation.Root({
  topic: Annotation<string>(),
  joke: Annotation<string>(),
  feedback: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Joke)
    .addNode('generate', async ({ topic, feedback }) => {
      const prompt = `A joke about ${topic}${feedback === undefined ? '' : `, but ${feedback}`}`;
      return { joke: await step('llm', ({ key }) => world.model(prompt, key)) };
    })
    .addNode('evaluate', async ({ joke }) => ({
      feedback: await step('llm', ({ key }) => world.model(`Funny? ${joke}`, key)),
    }))
    .addEdge(START, 'generate')
    .addEdge('generate', 'evaluate')
    .addConditionalEdges('evaluate', ({ feedback }) => (feedback === 'funny' ? END : 'generate'), [
      'generate',
      END,
    ]);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { topic: 'owls' };
export const model = (prompt: string) => {
  if (!prompt.startsWith('Funny?')) return `${prompt}.`;
  if (prompt.includes('shorter')) return 'funny';
  return prompt.includes('louder') ? 'shorter' : 'louder';
};
export const ends = { joke: 'A joke about owls, but shorter.', feedback: 'funny' };
