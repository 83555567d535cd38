import { load } from '@langchain/core/load';
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { describe, expect, test } from 'vitest';
import { loadLangChain, StrictSerde } from '../StrictSerde.ts';

const long = (word: string): string => word.repeat(2_000);
const BLOCKS = [
  { type: 'text', text: long('é') },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${long('Ab0/')}`, detail: 'low' } },
  { type: 'tool_use', id: 'c1', name: 'find', input: { query: [long('q'), 'short'] } },
  { type: 'document', source: { lc: 1, data: long('d') } },
];
const CALLS = [{ id: 'c1', name: 'find', args: { query: long('q') }, type: 'tool_call' as const }];

const CASES: Readonly<Record<string, () => BaseMessage>> = {
  'a long text': () => new HumanMessage({ id: 'h', name: 'ada', content: long('x') }),
  'blocks with long texts': () => new HumanMessage({ content: BLOCKS as never }),
  'a system message': () => new SystemMessage(long('s')),
  'an answer with calls': () =>
    new AIMessage({ content: BLOCKS as never, tool_calls: CALLS, response_metadata: { model_name: 'm' } }),
  'an answer in blocks of its first version': () =>
    new AIMessage({ content: BLOCKS as never, response_metadata: { output_version: 'v1' } }),
  'a piece of an answer': () =>
    new AIMessageChunk({
      content: long('x'),
      tool_call_chunks: [
        { index: 0, id: 'c', name: 'find', args: `{"query":"${long('q')}"}`, type: 'tool_call_chunk' },
      ],
    }),
  'the result of a tool': () =>
    new ToolMessage({
      tool_call_id: 'c1',
      content: long('r'),
      artifact: { rows: [long('a')] },
      status: 'success',
    }),
  'a message of a role': () => new ChatMessage({ role: 'judge', content: long('j') }),
  'a message of a function': () => new FunctionMessage({ name: 'f', content: long('f') }),
  'a text that says NUL': () => new HumanMessage(`\0${long('\0x')}`),
};

describe.for(Object.entries(CASES))('%s', ([, made]) => {
  test('is loaded as LangChain loads it', async () => {
    const record = JSON.parse(JSON.stringify(made())) as unknown;
    const loaded = await loadLangChain(record);
    const theirs = await load<object>(JSON.stringify(record));
    expect(loaded).toStrictEqual(theirs);
    expect(Object.getPrototypeOf(loaded)).toBe(Object.getPrototypeOf(theirs));
    expect(JSON.stringify(loaded)).toBe(JSON.stringify(theirs));
  });

  test('is proved once, and again once somebody has changed it', async () => {
    const serde = new StrictSerde();
    const message = made();
    const stored = await serde.dumpsTyped([message]);
    expect(await serde.loadsTyped(...stored)).toStrictEqual([message]);
    message.content = [{ type: 'text', text: long('new') }];
    expect(await serde.loadsTyped(...(await serde.dumpsTyped([message])))).toMatchObject([
      { content: message.content },
    ]);
  });
});
