import { describe, expect, test } from 'vitest';
import { type AnswerFlags, wordsFor } from '../answerFlags.ts';
import type { ChoiceName } from '../gateLabels.ts';

const BUDGET = {
  step: 'implement',
  node: 'implement',
  limits: [
    { measure: 'usd', limit: 1, spent: 1, next: 0.2, taskId: null },
    { measure: 'ms', limit: 60_000, spent: 60_000, next: 1, taskId: null },
  ],
};

/** What is made of what a person types; the input ends after the last line. */
async function typed(
  choice: ChoiceName,
  lines: readonly string[],
  artifact: unknown = null,
): Promise<{ readonly words: AnswerFlags | null; readonly asked: readonly string[] }> {
  const left = [...lines];
  const asked: string[] = [];
  const read = async (question: string): Promise<string | null> => {
    asked.push(question);
    return left.shift() ?? null;
  };
  return { words: await wordsFor(choice, { artifact }, read), asked };
}

describe('wordsFor', () => {
  test.each<[ChoiceName, string, AnswerFlags]>([
    ['retry', 'use the ISO form', { guidance: 'use the ISO form' }],
    ['skip', 'not worth it', { reason: 'not worth it' }],
    ['abort', 'no longer wanted', { reason: 'no longer wanted' }],
    ['retry', '', {}],
    ['abort', '', {}],
  ])('%s takes %j', async (choice, line, words) => {
    expect(await typed(choice, [line])).toMatchObject({ words, asked: [expect.any(String)] });
  });

  test.each<ChoiceName>(['retry', 'skip', 'abort', 'raise', 'value', 'version'])(
    '%s is nothing when the input ends',
    async (choice) => {
      expect((await typed(choice, [])).words).toBeNull();
    },
  );

  test.each<ChoiceName>(['approve', 'again', 'use'])('%s asks for nothing', async (choice) => {
    expect(await typed(choice, [])).toEqual({ words: {}, asked: [] });
  });

  test('a value is asked for until it is JSON', async () => {
    const { words, asked } = await typed('value', ['{ to: ada }', '{"to":"ada"}']);
    expect(words).toEqual({ value: '{"to":"ada"}' });
    expect(asked).toHaveLength(2);
    expect((await typed('value', ['nonsense', ''])).words).toBeNull();
    expect((await typed('version', ['mine', '"mine"'])).words).toEqual({ edit: '"mine"' });
  });

  test('a raise asks for what was passed and nothing else', async () => {
    const { words, asked } = await typed('raise', ['', '90000'], BUDGET);
    expect(words).toEqual({ raiseTime: 90_000 });
    expect(asked).toEqual(['US dollars to add (empty: 0)', 'milliseconds to add (empty: 0)']);
    expect((await typed('raise', ['2'], BUDGET)).words).toBeNull();
  });

  test('where what was passed is not known, a raise asks for every measure', async () => {
    const { words, asked } = await typed('raise', ['1.5', '1000', '', '']);
    expect(words).toEqual({ raiseUsd: 1.5, raiseTokens: 1000 });
    expect(asked).toHaveLength(4);
  });
});
