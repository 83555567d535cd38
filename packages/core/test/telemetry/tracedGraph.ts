import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const Post = Annotation.Root({ text: Annotation<string> });

/** A run waits at a gate between two nodes with a step each. @param aheadMs - Of its clock. */
export const tracedApp = (file: string, aheadMs = 0) =>
  durable(
    new StateGraph(Post)
      .addNode('write', async () => ({ text: await step('draft', () => 'a post') }))
      .addNode('publish', async ({ text }) => ({ text: await step('send', () => text) }))
      .addEdge(START, 'write')
      .addEdge('write', 'publish')
      .addEdge('publish', END),
    {
      file,
      name: 'posts',
      gates: { publish: () => 'a post' },
      telemetry: true,
      now: () => Date.now() + aheadMs,
    },
  );
