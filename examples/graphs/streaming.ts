import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Research = Annotation.Root({
  topic: Annotation<string>(),
  notes: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
  summary: Annotation<string>(),
});

const SOURCES = ['encyclopedia', 'news', 'forum'];

export const graph = (world: World) =>
  new StateGraph(Research)
    .addNode('read', async ({ topic }, { writer }) => {
      const notes: string[] = [];
      for (const source of SOURCES) {
        writer?.({ reading: source, read: notes.length, of: SOURCES.length });
        notes.push(await step(source, ({ key }) => world.model(`What the ${source} says of ${topic}`, key)));
      }
      return { notes };
    })
    .addNode('sum up', async ({ notes }, { writer }) => {
      writer?.({ summing: notes.length });
      return { summary: await step('llm', ({ key }) => world.model(notes.join(' '), key)) };
    })
    .addEdge(START, 'read')
    .addEdge('read', 'sum up')
    .addEdge('sum up', END);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { topic: 'tea' };
export const model = (prompt: string) =>
  prompt.startsWith('What the') ? `${prompt.split(' ')[2]}: hot.` : 'Hot.';
export const ends = { notes: ['encyclopedia: hot.', 'news: hot.', 'forum: hot.'], summary: 'Hot.' };
