import { describe, expect, it } from 'vitest';
import { DEFAULT_PRICES } from '../../../config/prices.ts';
import { callUsage, totalUsage, type UsageReport } from '../usage.ts';

const total = (...reports: UsageReport[]) => totalUsage(reports, DEFAULT_PRICES);

describe('what a call used', () => {
  it('is understood as LangChain reports it, and priced by its model, cached tokens at their own price', () => {
    const metadata = { input_tokens: 1_000_000, output_tokens: 100_000, total_tokens: 1_100_000 };
    expect(total({ ...metadata, model: 'openai:gpt-5-2025-08-07' })).toEqual({
      tokensIn: 1_000_000,
      tokensOut: 100_000,
      costUsd: 2.25,
    });
    const cached = { ...metadata, input_token_details: { cache_read: 800_000 }, model: 'gpt-5' };
    expect(total(cached).costUsd).toBeCloseTo(0.2 * 1.25 + 0.8 * 0.125 + 1);
  });

  it('costs what its reporter says, whatever the table says', () => {
    expect(total({ tokensIn: 10, tokensOut: 1, costUsd: 0.5, model: 'gpt-5' })).toMatchObject({
      costUsd: 0.5,
    });
  });

  it.each([
    [{ tokensIn: 10, tokensOut: 1, model: 'llama-of-mine' }],
    [{ tokensIn: 10, tokensOut: 1 }],
    [{ input_tokens: 10, output_tokens: 1 }],
  ] as [UsageReport][])('has an unknown cost without a price: %j', (report) => {
    expect(total(report)).toEqual({ tokensIn: 10, tokensOut: 1, unpriced: 1 });
  });

  it('is the sum of its reports, and says how many have no price', () => {
    expect(total({ tokensIn: 1, costUsd: 0.5 }, { tokensIn: 2 }, { costUsd: 0.25 })).toEqual({
      tokensIn: 3,
      costUsd: 0.75,
      unpriced: 1,
    });
  });

  it.each([
    { tokensIn: -1 },
    { tokensOut: 1.5 },
    { costUsd: Number.NaN },
    { costUsd: Number.POSITIVE_INFINITY },
    { input_tokens: Number.NaN, output_tokens: 0 },
  ])('is refused with a figure no call can have: %j', (report) => {
    expect(() => callUsage(report)).toThrow(RangeError);
  });
});
