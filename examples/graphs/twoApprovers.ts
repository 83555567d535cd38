import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Release = Annotation.Root({
  version: Annotation<string>(),
  notes: Annotation<string>(),
  receipt: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Release)
    .addNode('write', async ({ version }) => ({
      notes: await step('llm', ({ key }) => world.model(`Notes of ${version}`, key)),
    }))
    .addNode('publish', async ({ version, notes }) => ({
      receipt: await step('publish', ({ key }) => world.send(`${version}: ${notes}`, key)),
    }))
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);

export const app = (file: string, world: World) =>
  durable(graph(world), {
    file,
    gates: {
      publish: {
        show: ({ version, notes }) => ({ version, notes }),
        approvals: { of: ['ada', 'bob', 'eve'], count: 2 },
      },
    },
  });

export const input = { version: '2.0' };
export const model = () => 'Faster';
export const approvers = ['ada', 'eve'];
export const ends = { receipt: 'receipt of 2.0: Faster' };
