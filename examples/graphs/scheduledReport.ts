import { durable, sleep, step, waitFor } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const HOUR = 60 * 60 * 1000;

const Report = Annotation.Root({
  topic: Annotation<string>(),
  /** ISO 8601. */
  at: Annotation<string>(),
  draft: Annotation<string>(),
  receipt: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Report)
    .addNode('write', async ({ topic, at }) => {
      await sleep(new Date(at));
      return { draft: await step('llm', ({ key }) => world.model(`A report on ${topic}`, key)) };
    })
    .addNode('review', async ({ draft }) => {
      await step('ask', ({ key }) => world.send(`For review: ${draft}`, key));
      const review = await waitFor<string>('review', { within: 4 * HOUR });
      return review.timedOut ? {} : { draft: review.payload };
    })
    .addNode('publish', async ({ draft }) => ({
      receipt: await step('publish', ({ key }) => world.send(draft, key)),
    }))
    .addEdge(START, 'write')
    .addEdge('write', 'review')
    .addEdge('review', 'publish')
    .addEdge('publish', END);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { topic: 'sales', at: '2099-01-05T08:00:00Z' };
export const signals = { review: 'Sales are up, a little.' };
export const model = () => 'Sales are up.';
export const ends = { receipt: 'receipt of Sales are up, a little.' };
