import { type Body, listOf, type Protocol, sinceStage, TOKENS, type Words } from './Turn.ts';

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
  word: (say, { body, id }) => {
    const content = contentOf(say, id);
    const stop = { stop_reason: say.kind === 'call' ? 'tool_use' : 'end_turn', stop_sequence: null };
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: body['model'] };
    if (body['stream'] !== true)
      return {
        kind: 'json',
        value: { ...message, content: [content], ...stop, usage: usageOf(TOKENS.output) },
      };
    const begun = { ...message, content: [], stop_reason: null, stop_sequence: null, usage: usageOf(1) };
    const events: readonly ({ readonly type: string } & Body)[] = [
      { type: 'message_start', message: begun },
      { type: 'content_block_start', index: 0, content_block: emptied(content) },
      { type: 'content_block_delta', index: 0, delta: deltaOf(say) },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: stop, usage: { output_tokens: TOKENS.output } },
      { type: 'message_stop' },
    ];
    return { kind: 'events', events: events.map((data) => ({ name: data.type, data })) };
  },
};

const usageOf = (output: number): Body => ({
  input_tokens: TOKENS.input - TOKENS.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: TOKENS.cached,
  output_tokens: output,
});

const contentOf = (say: Words, id: string): Body =>
  say.kind === 'text'
    ? { type: 'text', text: say.text }
    : { type: 'tool_use', id: `toolu_${id}`, name: say.name, input: say.input };

const emptied = (content: Body): Body =>
  content['type'] === 'text' ? { ...content, text: '' } : { ...content, input: {} };

const deltaOf = (say: Words): Body =>
  say.kind === 'text'
    ? { type: 'text_delta', text: say.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(say.input) };
