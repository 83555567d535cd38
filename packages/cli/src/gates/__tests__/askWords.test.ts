import { describe, expect, test } from 'vitest';
import { wordsFor } from '../askWords.ts';
import type { ChoiceName } from '../gateWords.ts';

/** Asks with a person who says these lines, one after the other, and then ends the input. */
async function asked(choice: ChoiceName, lines: readonly string[], artifact: unknown = null) {
  const [questions, left]: [string[], string[]] = [[], [...lines]];
  const words = await wordsFor(choice, { artifact }, async (question) => {
    questions.push(question);
    return left.shift() ?? null;
  });
  return { words, questions };
}

const limit = (measure: string) => ({ measure, taskId: null, limit: 1, used: 1, next: 1 });

describe('the words that go with a choice', () => {
  test.each([
    ['retry', ['use the parser'], { guidance: 'use the parser' }],
    ['retry', [''], {}],
    ['retry', [], null],
    ['skip', ['not needed'], { reason: 'not needed' }],
    ['abort', [''], {}],
    ['abort', [], null],
    ['continue', [], {}],
    ['value', ['{ "to": "ada" }'], { value: '{ "to": "ada" }' }],
    ['value', ['to ada', '1'], { value: '1' }],
    ['value', ['to ada', ''], null],
    ['value', [], null],
  ] as const)('of %s after %j are %j', async (choice, lines, words) => {
    expect((await asked(choice, lines)).words).toEqual(words);
  });

  test('of a raise are asked for each measure, by its unit', async () => {
    const { words, questions } = await asked('raise', ['2.5', '', '7', '']);
    expect(words).toEqual({ raiseUsd: 2.5, raiseCalls: 7 });
    expect(questions.map((question) => question.split(' to add')[0])).toEqual([
      'US dollars',
      'tokens',
      'calls',
      'milliseconds',
    ]);
    expect((await asked('raise', ['1'])).words).toBeNull();
  });

  test('of a raise at the gate of a budget are asked for what was passed', async () => {
    const budget = { node: 'implement', step: 'code', limits: [limit('tokens')] };
    const { words, questions } = await asked('raise', ['100'], budget);
    expect(words).toEqual({ raiseTokens: 100 });
    expect(questions).toEqual(['tokens to add (empty: none)']);
  });
});
