import { setTimeout as sleep } from 'node:timers/promises';
import { step } from '@devs/core/langgraph';
import { Annotation, END, getWriter, interrupt, START, StateGraph } from '@langchain/langgraph';
import { type Call, QUESTION } from './graphs.ts';

// Graphs with recorded calls: the reference server, which loads the others, has no use for the engine.

const Walk = Annotation.Root({
  steps: Annotation<number>(),
  at: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
});

/** A node that is visited so often, each time with one recorded call that takes a while, and an event. */
export const walkGraph = (call: Call, ms: number) =>
  new StateGraph(Walk)
    .addNode('walk', async ({ at }) => {
      await step('walk', async () => {
        call(`walk ${at}`);
        await sleep(ms);
        return at;
      });
      getWriter()?.({ at });
      return { at: at + 1 };
    })
    .addEdge(START, 'walk')
    .addConditionalEdges('walk', ({ at, steps }) => (at < steps ? 'walk' : END));

const Publish = Annotation.Root({ text: Annotation<string>(), url: Annotation<string>() });

/** Publishes after a yes, by a recorded call that says its key. */
export const publishGraph = (publish: (key: string) => Promise<string>) =>
  new StateGraph(Publish)
    .addNode('publish', async ({ text }) => {
      const answer: unknown = interrupt({ question: QUESTION, text });
      if (answer !== true) return { url: 'nowhere' };
      return { url: await step('publish', ({ key }) => publish(key)) };
    })
    .addEdge(START, 'publish')
    .addEdge('publish', END);
