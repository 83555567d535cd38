import { callUsage } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { jsonAnswer } from '../jsonAnswer.ts';
import { claudeReply, codexReply, geminiReply } from '../readReply.ts';

const lines = (...values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join('\n');

describe('what a coding CLI prints', () => {
  test('claude: the result, its cost, and all input tokens with those of the cache', () => {
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 80,
      output_tokens: 7,
    };
    const result = { type: 'result', is_error: false, result: 'Done.', total_cost_usd: 0.5, usage };
    expect(claudeReply(`a warning\n${lines(result)}\n`)).toEqual({
      text: 'Done.',
      usage: { tokensIn: 93, tokensOut: 7, tokensCached: 80, costUsd: 0.5 },
      problem: null,
    });
    expect(claudeReply(lines({ is_error: true, subtype: 'error_max_turns' })).problem).toBe(
      'error_max_turns',
    );
  });

  test('codex: the last message of the agent, and the usage of the turn', () => {
    const events = [
      { type: 'thread.started' },
      { type: 'item.completed', item: { type: 'agent_message', text: 'First.' } },
      { type: 'item.completed', item: { type: 'command_execution', text: 'ls' } },
      { type: 'item.completed', item: { type: 'agent_message', text: 'Done.' } },
      { type: 'turn.completed', usage: { input_tokens: 9, cached_input_tokens: 4, output_tokens: 2 } },
    ];
    expect(codexReply(lines(...events))).toEqual({
      text: 'Done.',
      usage: { tokensIn: 9, tokensOut: 2, tokensCached: 4 },
      problem: null,
    });
    expect(codexReply(lines({ type: 'turn.failed', error: { message: 'no quota' } })).problem).toBe(
      'no quota',
    );
  });

  test('codex: an error that it got over is none', () => {
    const events = [
      { type: 'error', message: 'Reconnecting... 2/5 (stream disconnected)' },
      { type: 'item.completed', item: { type: 'agent_message', text: 'Done.' } },
      { type: 'turn.completed', usage: { input_tokens: 9, cached_input_tokens: 4, output_tokens: 2 } },
    ];
    expect(codexReply(lines(...events))).toMatchObject({ text: 'Done.', problem: null });
    expect(codexReply(lines(...events, { type: 'error', message: 'gone' })).problem).toBe('gone');
  });

  test('gemini: the response, and the tokens of all models it used', () => {
    const models = {
      pro: { tokens: { prompt: 5, candidates: 2, cached: 1 } },
      flash: { tokens: { prompt: 1, candidates: 1, cached: 0 } },
    };
    expect(geminiReply(JSON.stringify({ response: 'Done.', stats: { models } }, null, 2))).toEqual({
      text: 'Done.',
      usage: { tokensIn: 6, tokensOut: 3, tokensCached: 1 },
      problem: null,
    });
  });

  test.for([-5, '7', 'infinite', [3], { n: 1 }])(
    'is not taken for a figure where it is none, in any part of a sum: %j',
    (value) => {
      // As text: JSON has no infinity of its own.
      const text = (shape: unknown) =>
        JSON.stringify(shape).replaceAll('"$"', value === 'infinite' ? '1e999' : JSON.stringify(value));
      const good = { input_tokens: 90, cache_creation_input_tokens: 90, output_tokens: 90 };
      const replies = [
        claudeReply(text({ result: 'Done.', usage: { ...good, cache_creation_input_tokens: '$' } })),
        claudeReply(text({ result: 'Done.', total_cost_usd: '$' })),
        codexReply(
          [
            text({ type: 'item.completed', item: { type: 'agent_message', text: 'Done.' } }),
            text({ type: 'turn.completed', usage: { ...good, input_tokens: '$' } }),
          ].join('\n'),
        ),
        geminiReply(
          text({
            response: 'Done.',
            stats: { models: { a: { tokens: { prompt: 90 } }, b: { tokens: { prompt: '$' } } } },
          }),
        ),
      ];
      for (const reply of replies) {
        expect(reply).toMatchObject({ text: 'Done.', problem: null });
        expect(() => callUsage(reply.usage)).toThrow(RangeError);
      }
    },
  );

  test.for([claudeReply, codexReply, geminiReply])(
    'in no known format is an answer; nothing is none',
    (read) => {
      expect(read('Done.')).toEqual({ text: 'Done.', usage: {}, problem: null });
      expect(read(' \n').problem).toBe('it printed nothing');
    },
  );
});

describe('the answer in a text', () => {
  const schema = z.strictObject({ content: z.string() });
  const content = 'Use it:\n```js\nsum(1);\n```\n';

  test.for([
    ['alone', JSON.stringify({ content })],
    [
      'in a block after another',
      `\`\`\`json\n{}}\n\`\`\`\nSo:\n\`\`\`json\n${JSON.stringify({ content })}\n\`\`\`\n`,
    ],
    ['over many lines', `Here:\n\`\`\`json\n${JSON.stringify({ content }, null, 2)}\n\`\`\`\nThat is all.`],
    ['among words', `The answer is ${JSON.stringify({ content })}.`],
  ] as const)('is found %s', ([, text]) => {
    expect(jsonAnswer(text, schema)).toEqual({ value: { content } });
  });

  test('is missing, or has another shape: both are said', () => {
    expect(jsonAnswer('I cannot do that.', schema)).toEqual({ problem: 'There is no JSON object in it.' });
    expect(jsonAnswer('{"text":1}', schema)).toMatchObject({ problem: expect.stringContaining('content') });
  });
});
