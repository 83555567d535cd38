import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Request = Annotation.Root({
  text: Annotation<string>(),
  kind: Annotation<'story' | 'joke' | 'poem'>(),
  output: Annotation<string>(),
});

export const graph = (world: World) => {
  const write = async ({ kind, text }: typeof Request.State) => ({
    output: await step('llm', ({ key }) => world.model(`Write a ${kind}: ${text}`, key)),
  });
  return new StateGraph(Request)
    .addNode('router', async ({ text }) => {
      const kind = await step('llm', ({ key }) => world.model(`Which kind? ${text}`, key));
      return { kind: kind as 'story' | 'joke' | 'poem' };
    })
    .addNode('story', write)
    .addNode('joke', write)
    .addNode('poem', write)
    .addEdge(START, 'router')
    .addConditionalEdges('router', ({ kind }) => kind, ['story', 'joke', 'poem'])
    .addEdge('story', END)
    .addEdge('joke', END)
    .addEdge('poem', END);
};

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { text: 'lines about the sea' };
export const model = (prompt: string) => (prompt.startsWith('Which') ? 'poem' : `Waves. (${prompt})`);
export const ends = { kind: 'poem', output: 'Waves. (Write a poem: lines about the sea)' };
