import { durable, step } from '@devs/core/langgraph';
import { Document } from '@langchain/core/documents';
import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Summaries = Annotation.Root({
  documents: Annotation<Document[]>(),
  summaries: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  summary: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Summaries)
    .addNode('summarize', async ({ pageContent }: Document) => ({
      summaries: [await step('llm', ({ key }) => world.model(`Sum up ${pageContent}`, key))],
    }))
    .addNode('combine', async ({ summaries }) => ({
      summary: await step('llm', ({ key }) => world.model(`Combine ${summaries.join(' and ')}`, key)),
    }))
    .addConditionalEdges(
      START,
      ({ documents }) => documents.map((document) => new Send('summarize', document)),
      ['summarize'],
    )
    .addEdge('summarize', 'combine')
    .addEdge('combine', END);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = {
  documents: ['apples', 'pears', 'plums'].map(
    (pageContent, page) => new Document({ pageContent, metadata: { page } }),
  ),
};
export const model = (prompt: string) => prompt.replace(/^Sum up (.).*/, '$1');
export const ends = { summaries: ['a', 'p', 'p'], summary: 'Combine a and p and p' };
