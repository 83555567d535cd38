import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { DEFAULT_PRICES, loadPrices, priceOf } from '../prices.ts';

describe('the price of a model', () => {
  test.for(['gpt-5-mini', 'openai:gpt-5-mini', 'openrouter/openai/gpt-5-mini', 'gpt-5-mini-2025-08-07'])(
    'is found by %s',
    (name) => {
      expect(priceOf(name, DEFAULT_PRICES)).toBe(DEFAULT_PRICES['gpt-5-mini']);
    },
  );

  test('is there for the models that the help of devs names', () => {
    for (const name of ['openai:gpt-5.2', 'openai:gpt-5', 'anthropic:claude-opus-4-5-20251101'])
      expect(priceOf(name, DEFAULT_PRICES), name).not.toBeNull();
  });

  test.for(['gpt-5-turbo', 'toString', '', 'my-gpt-5'])('is unknown for "%s"', (name) => {
    expect(priceOf(name, DEFAULT_PRICES)).toBeNull();
  });
});

describe('a price table', () => {
  const written = (dbPath: string, text: string): string => {
    const file = path.join(path.dirname(dbPath), 'prices.json');
    writeFileSync(file, text);
    return file;
  };

  test('adds its models and wins over the defaults', ({ dbPath }) => {
    const file = written(
      dbPath,
      '{ "mine": { "input": 1, "output": 2 }, "gpt-5": { "input": 9, "output": 9 } }',
    );
    const prices = loadPrices(file);
    expect([prices['mine'], prices['gpt-5']]).toEqual([
      { input: 1, output: 2 },
      { input: 9, output: 9 },
    ]);
    expect(prices['gpt-4o']).toEqual(DEFAULT_PRICES['gpt-4o']);
  });

  test.for(['{', '[]', '{ "mine": { "input": -1, "output": 2 } }', '{ "mine": { "in": 1 } }'])(
    'that reads %s is refused',
    (text, { dbPath }) => {
      expect(() => loadPrices(written(dbPath, text))).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      );
    },
  );

  test('that is not there is refused', ({ dbPath }) => {
    expect(() => loadPrices(`${dbPath}.none`)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });
});
