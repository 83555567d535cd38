import { randomBytes } from 'node:crypto';
import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, Overwrite, START, StateGraph } from '@langchain/langgraph';
import { expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { stateStats } from '../../../state/doctor/fileSizes.ts';
import { durable } from '../../app/durable.ts';

/** Random, so that nothing of it is made smaller. */
const text = (bytes: number): string => randomBytes((bytes / 4) * 3).toString('base64');

const photo = (bytes: number) => [
  { type: 'text', text: 'What is on it?' },
  {
    type: 'image_url',
    image_url: { url: `data:image/jpeg;base64,${randomBytes(bytes).toString('base64')}` },
  },
];

const TURNS = 6;

const MESSAGE = 80_000;

const chat = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('answer', ({ messages }) => {
      const { id = '', content } = messages.at(-1) as BaseMessage;
      if (content === 'forget it')
        return { messages: new Overwrite([new AIMessage({ id: 'z', content: 'Gone.' })]) };
      const first = messages.find((message) => message.id === 'm-0');
      const gone = content === 'less' && first !== undefined ? [new RemoveMessage({ id: 'm-0' })] : [];
      return { messages: [...gone, new AIMessage({ id: `a-${id}`, content: `${messages.length}` })] };
    })
    .addEdge(START, 'answer')
    .addEdge('answer', END);

test('a chat of large messages and a photo goes on, and its file grows as what was said does', async ({
  db,
}) => {
  const app = durable(chat(), { db });
  const said: HumanMessage[] = [];
  const say = async (content: HumanMessage['content']): Promise<readonly BaseMessage[]> => {
    const message = new HumanMessage({ id: `m-${said.length}`, content });
    said.push(message);
    const { status, values } = await app.run('chat', { messages: [message] }, { turn: `t-${said.length}` });
    expect(status).toBe('completed');
    return values?.messages ?? [];
  };
  const sizes: number[] = [];
  const stored = (): number => {
    const { fullValues, splices } = stateStats(db);
    return fullValues.storedBytes + splices.storedBytes;
  };
  await say(photo(1_500_000));
  for (let turn = 1; turn < TURNS; turn += 1) {
    await say(text(MESSAGE));
    sizes.push(stored());
  }
  const last = await say(text(MESSAGE));
  expect(last).toHaveLength(2 * (TURNS + 1));
  expect(last.filter((message) => message.getType() === 'human')).toEqual(said);
  // Of each message: the write, the channel, the journal, the input, and now and then a channel as a whole.
  const grown = ((sizes.at(-1) ?? 0) - (sizes[0] ?? 0)) / (sizes.length - 1);
  expect(grown / MESSAGE).toBeLessThan(8);
  expect(await say('less')).toHaveLength(2 * (TURNS + 2) - 1);
  expect((await say('forget it')).map(({ content }) => content)).toEqual(['Gone.']);
});
