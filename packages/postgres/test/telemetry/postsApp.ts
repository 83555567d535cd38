import type { Runs } from '@devs/core';
import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const Post = Annotation.Root({ text: Annotation<string> });

/** A run waits at a gate between two nodes with a step each. */
export const postsApp = (runs: Runs) =>
  durable(
    new StateGraph(Post)
      .addNode('write', async () => ({ text: await step('draft', () => 'a post') }))
      .addNode('publish', async ({ text }) => ({ text: await step('send', () => text) }))
      .addEdge(START, 'write')
      .addEdge('write', 'publish')
      .addEdge('publish', END),
    { runs, name: 'posts', gates: { publish: ({ text }) => text }, telemetry: true },
  );

/** The spans of a run that has ended: the run, its turn, its nodes, its steps, and its gate. */
export const SPANS = [
  ...['gate node_gate', 'invoke_workflow posts', 'node publish', 'node write'],
  ...['step draft', 'step send', 'turn 1'],
];

/** Of a run that waits. */
export const SPANS_AT_GATE = ['node write', 'step draft'];
