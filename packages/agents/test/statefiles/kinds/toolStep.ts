import { durable, step } from '@devs/core/langgraph';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { Ledger } from '../Ledger.ts';
import { driveOnce, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const ORDER = { name: 'order', args: { what: 'green tea' }, id: 'call-1', type: 'tool_call' } as const;

/** Looks up a price, then asks whether to buy, then buys. */
const orderTool = (ledger: Ledger) =>
  tool(
    async ({ what }) => {
      const price = await step('price', ({ key }) => ledger.call('price', key, 7));
      const { approved } = interrupt<object, { readonly approved: boolean }>({ what, price });
      if (!approved) return 'not ordered';
      return step('buy', ({ key }) => ledger.call('buy', key, `${what} for ${price}`));
    },
    { name: 'order', description: 'Orders something.', schema: z.object({ what: z.string() }) },
  );

function open(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }) => {
      const isAnswered = messages.at(-1)?.type === 'tool';
      const content = await step('llm', ({ key }) =>
        ledger.call(isAnswered ? 'conclude' : 'think', key, isAnswered ? 'It is on its way.' : ''),
      );
      return { messages: [new AIMessage({ id: content, content, tool_calls: isAnswered ? [] : [ORDER] })] };
    })
    .addNode('tools', new ToolNode([orderTool(ledger)]))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END,
    )
    .addEdge('tools', 'agent');
  const input = { messages: [new HumanMessage({ id: 'order', content: 'Order green tea.' })] };
  return ownRun(durable(builder, { file: stateFileIn(dir) }), input, ({ messages }) =>
    messages.map(({ type, text }) => `${type}: ${text}`),
  );
}

/** Waits inside a tool that has recorded a step. */
export const toolStep: StateFileKind = {
  since: '0.1.0-27306ef',
  make: (dir) => driveOnce(open(dir)),
  resume: (dir) => resumeRun(open(dir), { approved: true }),
  resumed: {
    answered: ['interrupt'],
    status: 'completed',
    outcome: ['human: Order green tea.', 'ai: ', 'tool: green tea for 7', 'ai: It is on its way.'],
  },
  earlier: { '0.1.0-27306ef': { answered: ['node_gate'] } },
  calls: ['think', 'price', 'buy', 'conclude'],
};
