// The graph: a post is written by a model, read by a human, and published once.
import { appendFile } from 'node:fs/promises';
import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

/** The outside world: a model that costs money, and a site on which nothing may appear twice. */
export type Call = (what: string, key: string) => Promise<string>;

const Post = Annotation.Root({
  topic: Annotation<string>,
  draft: Annotation<string>,
  receipt: Annotation<string>,
});

const graph = (call: Call) =>
  new StateGraph(Post)
    .addNode('outline', async ({ topic }) => ({
      draft: await step('model', ({ key }) => call(`Outline ${topic}.`, key)),
    }))
    .addNode('write', async ({ draft }) => ({
      draft: await step('model', ({ key }) => call(`Write: ${draft}`, key)),
    }))
    .addNode('publish', async ({ draft }) => ({
      receipt: await step('site', ({ key }) => call(`Publish: ${draft}`, key)),
    }))
    .addEdge(START, 'outline')
    .addEdge('outline', 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);

export type Posts = ReturnType<typeof openPosts>;

export const openPosts = (file: string, call: Call) =>
  durable(graph(call), { file, gates: { publish: ({ draft }) => ({ draft }) } });

/** Each call is a line of the ledger before it returns, so that calls can be counted. */
export const ledgerCall =
  (ledger: string): Call =>
  async (what, key) => {
    await appendFile(ledger, `${JSON.stringify({ what, key })}\n`);
    return `[${what}]`;
  };
