import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Writing = Annotation.Root({
  topic: Annotation<string>(),
  parts: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  combined: Annotation<string>(),
});

export const graph = (world: World) => {
  const write =
    (kind: string) =>
    async ({ topic }: typeof Writing.State) => ({
      parts: [await step('llm', ({ key }) => world.model(`A ${kind} about ${topic}`, key))],
    });
  return new StateGraph(Writing)
    .addNode('joke', write('joke'))
    .addNode('story', write('story'))
    .addNode('poem', write('poem'))
    .addNode('combine', ({ parts }) => ({ combined: parts.join(' | ') }))
    .addEdge(START, 'joke')
    .addEdge(START, 'story')
    .addEdge(START, 'poem')
    .addEdge(['joke', 'story', 'poem'], 'combine')
    .addEdge('combine', END);
};

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { topic: 'tea' };
export const model = (prompt: string) => prompt.toLowerCase();
export const ends = { combined: 'a joke about tea | a poem about tea | a story about tea' };
