import { type Body, listOf, type Protocol, sinceStage, TOKENS, type Words } from './Turn.ts';

/** Responses of OpenAI, streamed. */
export const responsesProtocol: Protocol = {
  asks: (path) => path === '/v1/responses',
  keyOf: ({ authorization }) => String(authorization).replace('Bearer ', ''),
  read: ({ input, tools }) => {
    const items = sinceStage(listOf(input), ({ content }) =>
      listOf(content)
        .map(({ text }) => text ?? '')
        .join('\n'),
    );
    return {
      asked: items
        .flatMap(({ content }) => listOf(content))
        .map(({ text }) => text ?? '')
        .join('\n'),
      tools: listOf(tools).map(({ name }) => String(name)),
      carriedOut: items.filter(({ type }) => type === 'function_call_output').length,
    };
  },
  word: (say, { id }) => {
    const response = { id: `resp_${id}` };
    const events: readonly ({ readonly type: string } & Body)[] = [
      { type: 'response.created', response },
      { type: 'response.output_item.done', output_index: 0, item: itemOf(say, id) },
      { type: 'response.completed', response: { ...response, usage: USAGE } },
    ];
    return { kind: 'events', events: events.map((data) => ({ name: data.type, data })) };
  },
};

const USAGE = {
  input_tokens: TOKENS.input,
  input_tokens_details: { cached_tokens: TOKENS.cached },
  output_tokens: TOKENS.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: TOKENS.input + TOKENS.output,
} as const;

const itemOf = (say: Words, id: string): Body =>
  say.kind === 'text'
    ? {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        content: [{ type: 'output_text', text: say.text }],
      }
    : {
        type: 'function_call',
        id: `fc_${id}`,
        call_id: `call_${id}`,
        name: say.name,
        arguments: JSON.stringify(say.input),
      };
