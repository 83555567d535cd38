// A graph, and the app that `devs worker` drives.
import { durable, step } from '@devs/core/langgraph';
import { postgres } from '@devs/postgres';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';

const Mail = Annotation.Root({ to: Annotation(), text: Annotation(), sent: Annotation() });

const builder = new StateGraph(Mail)
  .addNode('write', async ({ to }) => ({ text: await step('write', () => `Dear ${to}, …`) }))
  .addNode('send', async ({ to, text }) => {
    if (interrupt(`Send this to ${to}: ${text}`) !== true) return { sent: false };
    return { sent: await step('send', () => true) };
  })
  .addEdge(START, 'write')
  .addEdge('write', 'send')
  .addEdge('send', END);

export const app = durable(builder, { runs: postgres(process.env.DEVS_DATABASE_URL ?? ''), graph: 'mail' });
