import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { Command, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent, ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import type { Program, Programs } from './Program.ts';
import type { World } from './World.ts';

/** Tools a turn calls, each with its argument; or the last word. */
type Turn = string | readonly (readonly [tool: string, what: string])[];

/** A model whose answer follows from how many it has given. */
class Model extends BaseChatModel {
  readonly #world: World;
  readonly #turns: readonly Turn[];
  readonly #who: string;

  constructor(world: World, turns: readonly Turn[], who = 'turn') {
    super({});
    this.#world = world;
    this.#turns = turns;
    this.#who = who;
  }

  _llmType(): string {
    return 'turns';
  }

  override bindTools(): this {
    return this;
  }

  _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const turn = messages.filter((message) => AIMessage.isInstance(message)).length;
    const message = messageOf(this.#turns[turn] ?? 'That is all.', turn);
    return this.#world.effect('llm', `${this.#who} ${turn}`, {
      generations: [{ text: message.text, message }],
    });
  }
}

function messageOf(turn: Turn, at: number): AIMessage {
  const id = `turn-${at}`;
  if (typeof turn === 'string') return new AIMessage({ id, content: turn });
  const calls = turn.map(([name, what], index) => ({
    id: `call-${at}-${index}`,
    name,
    args: { what },
    type: 'tool_call' as const,
  }));
  return new AIMessage({ id, content: '', tool_calls: calls });
}

const schema = {
  type: 'object',
  properties: { what: { type: 'string' } },
  required: ['what'],
} as const;

const toolOf = (name: string, run: (what: string, callId: string) => unknown): StructuredToolInterface =>
  tool(
    async ({ what }: { what: string }, { toolCall }: { toolCall?: { id?: string } }) =>
      run(what, toolCall?.id ?? ''),
    { name, description: name, schema },
  ) as unknown as StructuredToolInterface;

const booking = (world: World) => toolOf('book', (what) => world.effect('book', `book ${what}`));

const breaking = (world: World) =>
  toolOf('break', async (what) => {
    await world.effect('try', `try ${what}`);
    throw new RangeError(`No ${what} left.`);
  });

const asking = (world: World) =>
  toolOf('ask', async (what) => {
    const before = await world.effect('look', `look at ${what}`);
    const said = interrupt<object, string>({ about: what });
    return `${before}, ${await world.effect('act', `${what}: ${said}`)}`;
  });

const noting = (world: World) =>
  toolOf('note', async (what, tool_call_id) => {
    const content = await world.effect('note', `note ${what}`);
    return new Command({
      update: { messages: [new ToolMessage({ id: `t-${tool_call_id}`, content, tool_call_id })] },
    });
  });

const toolsOf = (world: World) => [booking(world), breaking(world), asking(world), noting(world)];

const input = { messages: [new HumanMessage({ id: 'input', content: 'Please.' })] };
const answer = (asked: unknown) => `yes to ${JSON.stringify(asked)}`;

const byHand = (turns: readonly Turn[]): Program => ({
  input,
  answer,
  build: (world) => {
    const model = new Model(world, turns);
    return new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => {
        world.visit('agent', messages);
        return { messages: [await model.invoke(messages)] };
      })
      .addNode('tools', new ToolNode(toolsOf(world)))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', toolsCondition, ['tools', END])
      .addEdge('tools', 'agent');
  },
});

const prebuilt = (turns: readonly Turn[], version: 'v1' | 'v2'): Program => ({
  input,
  answer,
  build: (world) =>
    createReactAgent({ llm: new Model(world, turns), tools: toolsOf(world), prompt: 'You book.', version }),
});

/** An agent is a node, and hands over to a colleague. */
const team: Program = {
  input,
  answer,
  build: (world) => {
    const handOver = toolOf('hand_over', async (what, tool_call_id) => {
      const content = await world.effect('hand', `hand over ${what}`);
      const messages = [new ToolMessage({ id: 'handed', content, tool_call_id })];
      return new Command({ graph: Command.PARENT, goto: 'colleague', update: { messages } });
    });
    const first = createReactAgent({
      llm: new Model(world, [[['book', 'a train']], [['hand_over', 'the hotel']]], 'first'),
      tools: [booking(world), handOver],
      name: 'first',
    });
    const colleague = createReactAgent({
      llm: new Model(world, [[['ask', 'a hotel']], 'Done.'], 'colleague'),
      tools: [asking(world)],
      name: 'colleague',
    });
    return new StateGraph(MessagesAnnotation)
      .addNode('first', first, { ends: ['colleague', END] })
      .addNode('colleague', colleague)
      .addEdge(START, 'first')
      .addEdge('colleague', END);
  },
};

const TURNS: readonly Turn[] = [
  [
    ['book', 'a table'],
    ['book', 'a taxi'],
  ],
  [['note', 'it']],
  'Booked.',
];
const WITH_QUESTIONS: readonly Turn[] = [
  [
    ['ask', 'a hotel'],
    ['book', 'a taxi'],
    ['ask', 'a tour'],
  ],
  'Asked.',
];
const WITH_ERRORS: readonly Turn[] = [
  [
    ['break', 'seats'],
    ['book', 'a bus'],
    ['unknown', 'x'],
  ],
  'Sorry.',
];

export const agents: Programs = {
  'an agent by hand': byHand(TURNS),
  'an agent by hand whose tools ask': byHand(WITH_QUESTIONS),
  'an agent by hand whose tools break': byHand(WITH_ERRORS),
  'a prebuilt agent': prebuilt(TURNS, 'v1'),
  'a prebuilt agent whose tools ask': prebuilt(WITH_QUESTIONS, 'v1'),
  'a prebuilt agent whose tools break': prebuilt(WITH_ERRORS, 'v1'),
  'a prebuilt agent with a task for each tool': prebuilt(TURNS, 'v2'),
  'a prebuilt agent with a task for each tool, which ask': prebuilt(WITH_QUESTIONS, 'v2'),
  'a prebuilt agent with a task for each tool, which ask one by one': {
    ...prebuilt(WITH_QUESTIONS, 'v2'),
    oneByOne: true,
  },
  'an agent hands over to a colleague that asks': team,
};
