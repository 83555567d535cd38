import { durable, step } from '@devs/core/langgraph';
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ScriptedChatModel } from './support/ScriptedChatModel.ts';
import type { World } from './support/world.ts';

const order = {
  name: 'order',
  description: 'Orders so many of an article.',
  schema: {
    type: 'object',
    properties: { article: { type: 'string' }, count: { type: 'number' } },
    required: ['article', 'count'],
  },
} as const;

export const graph = (world: World) => {
  const tools = [
    tool(
      async ({ article, count }: { article: string; count: number }) =>
        await step('order', ({ key }) => world.send(`${count} × ${article}`, key)),
      order,
    ),
  ];
  const llm = new ScriptedChatModel(world, [
    { tool: 'order', args: { article: 'tea', count: 2 } },
    { tool: 'order', args: { article: 'cups', count: 4 } },
    'Ordered.',
  ]).bindTools();
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }) => ({
      messages: [await step('llm', ({ key }) => llm.invoke(messages, { key }))],
    }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', toolsCondition, ['tools', '__end__'])
    .addEdge('tools', 'agent');
};

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { messages: [new HumanMessage({ id: 'ask', content: 'Tea for four.' })] };
export const ends = {
  messages: [{}, {}, { content: 'receipt of 2 × tea' }, {}, {}, { content: 'Ordered.' }],
};
