import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

/** The outside world: a model that costs money, a site that must not get the same post twice. */
export interface World {
  model(prompt: string, key: string): Promise<string>;
  publish(post: string, key: string): Promise<string>;
  announce(url: string, key: string): Promise<void>;
}

const Post = Annotation.Root({
  topic: Annotation<string>(),
  outline: Annotation<string>(),
  draft: Annotation<string>(),
  url: Annotation<string>(),
});

/** Four nodes of LangGraph, made durable: `publish` waits for a human, and no recorded call is made twice. */
export function publishing(file: string, world: World) {
  const builder = new StateGraph(Post)
    .addNode('plan', async ({ topic }) => ({
      outline: await step('llm', ({ key }) => world.model(`Outline ${topic}`, key)),
    }))
    .addNode('write', async ({ outline }) => ({
      draft: await step('llm', ({ key }) => world.model(`Write ${outline}`, key)),
    }))
    .addNode('publish', async ({ draft }) => ({
      url: await step('post', ({ key }) => world.publish(draft, key)),
    }))
    .addNode('announce', async ({ url }) => {
      await step('mail', ({ key }) => world.announce(url, key));
      return {};
    })
    .addEdge(START, 'plan')
    .addEdge('plan', 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', 'announce')
    .addEdge('announce', END);
  return durable(builder, { file, gates: { publish: ({ draft }) => ({ draft }) } });
}
