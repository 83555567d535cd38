import { AIMessageChunk } from '@langchain/core/messages';
import { describe, expect, test } from 'vitest';
import type { TokensChunk } from '../StreamEvent.ts';
import { HeardTokens, SentTokens } from '../sentTokens.ts';

const said = (data: string, more: Partial<TokensChunk> = {}): TokensChunk => ({
  ...{ mode: 'messages', id: 'call', piece: 0, ns: [], task: 'task', node: 'ask', step: 1, attempt: 1 },
  ...{ data, chunk: new AIMessageChunk({ id: 'm', content: data }), metadata: { langgraph_node: 'ask' } },
  ...more,
});

/** From a driver of an epoch, which has stored so many events, to a reader. */
function wire(from = 0) {
  const heard = new HeardTokens({ subgraphs: false, from }, () => undefined);
  const say = async (event: TokensChunk, epoch: number, stored: number): Promise<void> => {
    const arrived = new Promise<Uint8Array>((resolve) => {
      const words = { isHeard: () => true, say: resolve };
      new SentTokens(words, { epoch, lastSeq: () => stored }).hear(event);
    });
    heard.hear(await arrived);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  };
  return { heard, say };
}

const texts = (events: ReturnType<HeardTokens['upTo']>): readonly string[] =>
  events.map((event) => (event.mode === 'messages' ? event.data : event.mode));

describe('words between stored events', () => {
  test('come whole, before the event that they were said before', async () => {
    const { heard, say } = wire();
    await say(said('one'), 1, 4);
    await say(said('two', { piece: 1 }), 1, 5);
    const [first] = heard.before(5);
    expect(first).toEqual(said('one'));
    expect(texts(heard.before(6))).toEqual(['two']);
  });

  test('of before the position that a reader begins at are over', async () => {
    const { heard, say } = wire(6);
    await say(said('of the turn before'), 1, 5);
    await say(said('now', { id: 'next' }), 1, 6);
    expect(texts(heard.upTo(9))).toEqual(['now']);
  });

  test('are held back until the events before them are read', async () => {
    const { heard, say } = wire();
    await say(said('later'), 1, 7);
    expect(heard.upTo(6)).toEqual([]);
    expect(texts(heard.upTo(7))).toEqual(['later']);
  });

  test('are nothing where they come after the result of their task, and those beside it come', async () => {
    const { heard, say } = wire();
    heard.ends('task');
    await say(said('late'), 1, 4);
    await say(said('beside', { id: 'other', task: 'other' }), 1, 4);
    expect(texts(heard.upTo(5))).toEqual(['beside']);
  });

  test('of a message end where a piece of it was lost', async () => {
    const { heard, say } = wire();
    await say(said('begins', { id: 'unheard', piece: 3 }), 1, 4);
    await say(said('one'), 1, 4);
    await say(said('three', { piece: 2 }), 1, 4);
    await say(said('four', { piece: 3 }), 1, 4);
    expect(texts(heard.upTo(4))).toEqual(['one']);
  });

  test('of graphs inside nodes come only where they are asked for', async () => {
    const { heard, say } = wire();
    await say(said('inner', { ns: ['agent:1'] }), 1, 4);
    expect(heard.upTo(9)).toEqual([]);
  });

  test('of an earlier epoch are not heard, and a later one begins its tasks anew', async () => {
    const { heard, say } = wire();
    await say(said('one'), 1, 4);
    await say(said('again'), 2, 4);
    await say(said('zombie'), 1, 4);
    expect(texts(heard.upTo(4))).toEqual(['one', 'restarted', 'again']);
  });

  test('come without metadata that cannot be sent', async () => {
    const { heard, say } = wire();
    await say(said('one', { metadata: { callback: () => undefined } }), 1, 4);
    expect(heard.upTo(4)).toEqual([said('one', { metadata: {} })]);
  });

  test('that are none are passed over', async () => {
    const { heard, say } = wire();
    heard.hear(Buffer.from('of another release'));
    heard.hear(Buffer.from('plain\n{'));
    await say(said('one'), 1, 4);
    expect(texts(heard.upTo(4))).toEqual(['one']);
  });
});
