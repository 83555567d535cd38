import { durable, step } from '@devs/core/langgraph';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { type OpenRun, ownRun, RUN, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const says = (id: string, content: string) => ({ messages: [new HumanMessage({ id, content })] });

const texts = ({ messages }: { readonly messages: readonly BaseMessage[] }) =>
  messages.map(({ text }) => text);

function appIn(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(MessagesAnnotation)
    .addNode('answer', async ({ messages }) => {
      const text = `answer ${messages.length}`;
      const id = `a-${messages.length}`;
      return {
        messages: [
          new AIMessage({ id, content: await step('llm', ({ key }) => ledger.call('llm', key, text)) }),
        ],
      };
    })
    .addEdge(START, 'answer');
  const answer = ({ messages }: typeof MessagesAnnotation.State) => ({ last: messages.at(-1)?.text ?? '' });
  return durable(builder, { file: stateFileIn(dir), gates: { answer } });
}

const second = says('m-2', 'What is tea?');

/** The second turn of the chat. */
function secondTurn(dir: string): OpenRun {
  const app = appIn(dir);
  const run = () => app.run(RUN, second, { turn: 'second' });
  return ownRun(
    {
      run,
      gates: (id) => app.gates(id),
      decide: (...answer) => app.decide(...answer),
      close: () => app.close(),
    },
    second,
    texts,
  );
}

/** Waits at a gate in the second turn of a chat. */
export const turn: StateFileKind = {
  since: '0.1.0-e36ae08',
  make: async (dir) => {
    const app = appIn(dir);
    const run = { ...ownRun(app, says('m-1', 'Hello.'), texts), close: () => undefined };
    await resumeRun(run, { approved: true });
    await app.run(RUN, second, { turn: 'second' });
    app.close();
  },
  resume: (dir) => resumeRun(secondTurn(dir), { approved: true }),
  resumed: {
    answered: ['node_gate'],
    status: 'completed',
    outcome: ['Hello.', 'answer 1', 'What is tea?', 'answer 3'],
  },
  calls: ['llm', 'llm'],
};
