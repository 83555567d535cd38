import { durable, step } from '@devs/core/langgraph';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Mail = Annotation.Root({
  to: Annotation<string>(),
  draft: Annotation<string>(),
  outcome: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Mail)
    .addNode('write', async ({ to }) => ({
      draft: await step('llm', ({ key }) => world.model(`A mail to ${to}`, key)),
    }))
    .addNode(
      'approve',
      ({ draft }) => {
        const isApproved = interrupt<object, boolean>({ question: 'Send it?', draft });
        return new Command({ goto: isApproved ? 'send' : 'drop' });
      },
      { ends: ['send', 'drop'] },
    )
    .addNode('send', async ({ draft }) => ({
      outcome: await step('mail', ({ key }) => world.send(draft, key)),
    }))
    .addNode('drop', () => ({ outcome: 'dropped' }))
    .addEdge(START, 'write')
    .addEdge('write', 'approve')
    .addEdge('send', END)
    .addEdge('drop', END);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { to: 'Ada' };
export const model = () => 'Dear Ada';
export const answers = [true];
export const ends = { outcome: 'receipt of Dear Ada' };
