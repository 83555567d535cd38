import { listOf, type Protocol, TOKENS } from './Turn.ts';

/** Chat completions of OpenAI, whole, without tools. */
export const chatProtocol: Protocol = {
  asks: (path) => path === '/v1/chat/completions',
  keyOf: ({ authorization }) => String(authorization).replace('Bearer ', ''),
  read: ({ messages }) => ({
    asked: listOf(messages)
      .map(({ content }) => String(content))
      .join('\n'),
    tools: [],
    carriedOut: 0,
  }),
  word: (say, { body, id }) => {
    const message = { role: 'assistant', content: say.kind === 'text' ? say.text : '' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return {
      kind: 'json',
      value: { id, object: 'chat.completion', model: body['model'], choices, usage: USAGE },
    };
  },
};

const USAGE = {
  prompt_tokens: TOKENS.input,
  completion_tokens: TOKENS.output,
  total_tokens: TOKENS.input + TOKENS.output,
} as const;
