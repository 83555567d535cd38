import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

// Replace these two with calls to your model and your website.
async function callModel(topic: string): Promise<string> {
  console.log('calling the model');
  return `Five facts about ${topic}`;
}

async function publish(text: string, key: string): Promise<string> {
  console.log(`publishing with idempotency key ${key}`);
  return `https://example.org/${text.length}`;
}

const Post = Annotation.Root({
  topic: Annotation<string>,
  text: Annotation<string>,
  url: Annotation<string>,
});

const builder = new StateGraph(Post)
  .addNode('write', async ({ topic }) => ({ text: await step('llm', () => callModel(topic)) }))
  .addNode('publish', async ({ text }) => ({ url: await step('post', ({ key }) => publish(text, key)) }))
  .addEdge(START, 'write')
  .addEdge('write', 'publish')
  .addEdge('publish', END);

export const app = durable(builder, {
  file: '.devs/state.sqlite',
  gates: { publish: ({ text }) => ({ text }) },
});
