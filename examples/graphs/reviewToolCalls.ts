import { durable, step } from '@devs/core/langgraph';
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ScriptedChatModel } from './support/ScriptedChatModel.ts';
import type { World } from './support/world.ts';

type Review = { type: 'accept' } | { type: 'edit'; hotel: string } | { type: 'reject'; reason: string };

const book = {
  name: 'book',
  description: 'Books a hotel.',
  schema: { type: 'object', properties: { hotel: { type: 'string' } }, required: ['hotel'] },
} as const;

export const graph = (world: World) => {
  const tools = [
    tool(async ({ hotel }: { hotel: string }) => {
      const review = interrupt<object, Review>({ question: 'Book it?', hotel });
      if (review.type === 'reject') return `Not booked: ${review.reason}`;
      const chosen = review.type === 'edit' ? review.hotel : hotel;
      return await step('book', ({ key }) => world.send(chosen, key));
    }, book),
  ];
  const llm = new ScriptedChatModel(world, [
    { tool: 'book', args: { hotel: 'Grand' } },
    { tool: 'book', args: { hotel: 'Plaza' } },
    'Booked.',
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

export const input = { messages: [new HumanMessage({ id: 'ask', content: 'A room in Bern.' })] };
export const answers = [
  { type: 'reject', reason: 'too dear' },
  { type: 'edit', hotel: 'Plaza, a single' },
];
export const ends = {
  messages: [
    {},
    {},
    { content: 'Not booked: too dear' },
    {},
    { content: 'receipt of Plaza, a single' },
    { content: 'Booked.' },
  ],
};
