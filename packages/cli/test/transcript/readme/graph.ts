import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { model, publish } from './world.ts';

const Post = Annotation.Root({
  topic: Annotation<string>,
  text: Annotation<string>,
  url: Annotation<string>,
});
const builder = new StateGraph(Post)
  .addNode('write', async ({ topic }) => ({ text: await step('llm', ({ key }) => model(topic, key)) }))
  .addNode('publish', async ({ text }) => ({ url: await step('post', ({ key }) => publish(text, key)) }))
  .addEdge(START, 'write')
  .addEdge('write', 'publish')
  .addEdge('publish', END);
const app = durable(builder, { file: 'posts.sqlite', gates: { publish: ({ text }) => ({ text }) } });

const { gates } = await app.run('post-42', { topic: 'green tea' }); // calls the model, then waits for approval
for (const gate of gates) await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
await app.run('post-42'); // in any process, on any day: publishes once
app.close();
