import {
  type Asked,
  type Body,
  listOf,
  type Protocol,
  sinceStage,
  TOKENS,
  type Tokens,
  type Wire,
  type Words,
} from './Turn.ts';

const blocksOf = ({ content }: Body): readonly Body[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);

/** Messages of Anthropic, whole or streamed. */
export const anthropicProtocol: Protocol = {
  asks: (path) => path === '/v1/messages',
  keyOf: (headers) => String(headers['x-api-key']),
  read: ({ messages, tools }) => {
    const blocks = sinceStage(listOf(messages).flatMap(blocksOf), ({ text }) => text);
    return {
      asked: blocks.map(({ text }) => text ?? '').join('\n'),
      tools: listOf(tools).map(({ name }) => String(name)),
      carriedOut: blocks.filter(({ type }) => type === 'tool_result').length,
    };
  },
  word: (say, request) => wordSaying(say, request),
};

/** Several tools at once. */
interface Calls {
  readonly kind: 'calls';
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
}

/** One answer, whole or streamed. */
export function wordSaying(say: Words | Calls, { body, id, usage = TOKENS }: Asked): Wire {
  const content = contentOf(say, id);
  const isCall = say.kind !== 'text';
  const stop = { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: body['model'] };
  if (body['stream'] !== true)
    return { kind: 'json', value: { ...message, content, ...stop, usage: usageOf(usage) } };
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null };
  const events: readonly ({ readonly type: string } & Body)[] = [
    { type: 'message_start', message: { ...begun, usage: usageOf({ ...usage, output: 1 }) } },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptied(block) },
      { type: 'content_block_delta', index, delta: deltaOf(block) },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: stop, usage: { output_tokens: usage.output } },
    { type: 'message_stop' },
  ];
  return { kind: 'events', events: events.map((data) => ({ name: data.type, data })) };
}

const usageOf = ({ input, cached, output }: Tokens): Body => ({
  input_tokens: input - cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: output,
});

function contentOf(say: Words | Calls, id: string): readonly Body[] {
  if (say.kind === 'text') return [{ type: 'text', text: say.text }];
  const calls = say.kind === 'call' ? [say] : say.calls;
  return calls.map(({ name, input }, index) => ({
    type: 'tool_use',
    id: index === 0 ? `toolu_${id}` : `toolu_${id}n${index}`,
    ...{ name, input },
  }));
}

const emptied = (content: Body): Body =>
  content['type'] === 'text' ? { ...content, text: '' } : { ...content, input: {} };

const deltaOf = ({ type, text, input }: Body): Body =>
  type === 'text'
    ? { type: 'text_delta', text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(input) };
