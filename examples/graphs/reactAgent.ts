import { durable, step } from '@devs/core/langgraph';
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ScriptedChatModel } from './support/ScriptedChatModel.ts';
import type { World } from './support/world.ts';

/** The agent's node is not yours to write: the step is inside the model. */
class RecordedModel extends ScriptedChatModel {
  override _generate(messages: BaseMessage[], options: this['ParsedCallOptions']) {
    return step('llm', ({ key }) => super._generate(messages, { ...options, key }));
  }
}

const book = {
  name: 'book',
  description: 'Books a table.',
  schema: {
    type: 'object',
    properties: { place: { type: 'string' }, guests: { type: 'number' } },
    required: ['place', 'guests'],
  },
} as const;

export const graph = (world: World) => {
  const tools = [
    tool(
      async ({ place, guests }: { place: string; guests: number }) =>
        await step('book', ({ key }) => world.send(`table for ${guests} at ${place}`, key)),
      book,
    ),
  ];
  const llm = new RecordedModel(world, [
    { tool: 'book', args: { place: 'Da Gino', guests: 4 } },
    'Your table is booked.',
  ]);
  return createReactAgent({ llm, tools, prompt: 'You book tables.' });
};

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { messages: [new HumanMessage({ id: 'ask', content: 'A table for four.' })] };
export const ends = {
  messages: [{}, {}, { content: 'receipt of table for 4 at Da Gino' }, { content: 'Your table is booked.' }],
};
