// A program as a first page shows it: nothing in it looks at how its run went.
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { durable, step } from '../../src/langgraph.ts';

const [file = ''] = process.argv.slice(2);
const model = async (): Promise<string> => {
  throw new Error('The model is down.');
};
const Post = Annotation.Root({ text: Annotation<string> });
const builder = new StateGraph(Post)
  .addNode('write', async () => ({ text: await step('llm', model) }))
  .addEdge(START, 'write');
const app = durable(builder, { file });

const { gates } = await app.run('post-42', {});
for (const gate of gates) await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
await app.run('post-42');
app.close();
