import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

interface Page {
  readonly id: string;
  readonly topic: string;
  readonly text: string;
}

const Rag = Annotation.Root({
  pages: Annotation<Page[]>(),
  question: Annotation<string>(),
  context: Annotation<string[]>(),
  answer: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Rag)
    .addNode('index', async ({ pages }, { store }: LangGraphRunnableConfig) => {
      for (const { id, ...page } of pages) await store?.put(['handbook'], id, page);
      return {};
    })
    .addNode('retrieve', async ({ question }, { store }: LangGraphRunnableConfig) => {
      const topic = await step('topic', ({ key }) => world.model(`The topic of: ${question}`, key));
      const pages = (await store?.search(['handbook'], { filter: { topic }, limit: 100 })) ?? [];
      const texts = pages.map(({ value }) => String(value['text']));
      return { context: texts.toSorted((a, b) => shared(question, b) - shared(question, a)).slice(0, 2) };
    })
    .addNode('respond', async ({ question, context }) => ({
      answer: await step('llm', ({ key }) => world.model(`${context.join(' ')} ${question}`, key)),
    }))
    .addEdge(START, 'index')
    .addEdge('index', 'retrieve')
    .addEdge('retrieve', 'respond')
    .addEdge('respond', END);

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\w{4,}/g) ?? [];

/** How many words two texts share. */
const shared = (question: string, text: string): number =>
  wordsOf(text).filter((word) => wordsOf(question).includes(word)).length;

export const app = (file: string, world: World) => durable(graph(world), { file, store: 'file' });

export const input = {
  question: 'How many days of leave may be carried over?',
  pages: [
    { id: 'leave-1', topic: 'leave', text: 'Leave is granted by the team.' },
    { id: 'leave-2', topic: 'leave', text: 'Five days may be carried over.' },
    { id: 'leave-3', topic: 'leave', text: 'Unused leave days carried over end in March.' },
    { id: 'travel', topic: 'travel', text: 'Days of travel are carried by the firm.' },
  ],
};
export const model = (prompt: string) => (prompt.startsWith('The topic') ? 'leave' : 'Five, until March.');
export const ends = {
  context: ['Unused leave days carried over end in March.', 'Five days may be carried over.'],
  answer: 'Five, until March.',
};
