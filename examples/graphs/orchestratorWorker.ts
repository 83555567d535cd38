import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Report = Annotation.Root({
  topic: Annotation<string>(),
  sections: Annotation<string[]>(),
  written: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  report: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Report)
    .addNode('plan', async ({ topic }) => {
      const plan = await step('llm', ({ key }) => world.model(`Sections on ${topic}`, key));
      return { sections: plan.split(', ') };
    })
    .addNode('worker', async ({ section }: { section: string }) => ({
      written: [await step('llm', ({ key }) => world.model(`Write "${section}"`, key))],
    }))
    .addNode('join', ({ written }) => ({ report: written.join('\n') }))
    .addEdge(START, 'plan')
    .addConditionalEdges(
      'plan',
      ({ sections }) => sections.map((section) => new Send('worker', { section })),
      ['worker'],
    )
    .addEdge('worker', 'join')
    .addEdge('join', END);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { topic: 'tides' };
export const model = (prompt: string) =>
  prompt.startsWith('Sections') ? 'moon, sun, coast' : `## ${prompt}`;
export const ends = { report: '## Write "moon"\n## Write "sun"\n## Write "coast"' };
