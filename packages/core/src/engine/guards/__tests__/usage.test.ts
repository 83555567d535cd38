import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { howMany } from '../../../../test/support/howMany.ts';
import { tried } from '../../../../test/support/tried.ts';
import { DEFAULT_PRICES } from '../../../config/prices.ts';
import { callUsage, totalUsage, type UsageReport, UsageReports } from '../usage.ts';

const total = (...reports: UsageReport[]) => totalUsage(reports, DEFAULT_PRICES);

describe('what a call used', () => {
  it('is understood as LangChain reports it, and priced by its model, cached tokens at their own price', () => {
    const metadata = { input_tokens: 1_000_000, output_tokens: 100_000, total_tokens: 1_100_000 };
    expect(total({ ...metadata, model: 'openai:gpt-5-2025-08-07' })).toEqual({
      tokensIn: 1_000_000,
      tokensOut: 100_000,
      costUsd: 2.25,
      requests: 1,
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
    expect(total(report)).toEqual({ tokensIn: 10, tokensOut: 1, unpriced: 1, requests: 1 });
  });

  it('is the sum of its reports, and says how many have no price', () => {
    expect(total({ tokensIn: 1, costUsd: 0.5 }, { tokensIn: 2 }, { costUsd: 0.25 })).toEqual({
      tokensIn: 3,
      costUsd: 0.75,
      unpriced: 1,
      requests: 3,
    });
    expect(total({ tokensIn: 1, requests: 7 }, { tokensIn: 2 })).toMatchObject({ requests: 8 });
  });

  it.each([
    { tokensIn: -1 },
    { tokensOut: 1.5 },
    { costUsd: Number.NaN },
    { costUsd: Number.POSITIVE_INFINITY },
    { input_tokens: Number.NaN, output_tokens: 0 },
    { tokensIn: 10, tokensOut: 1, tokensCached: 11 },
    { tokensCached: 1 },
    { input_tokens: 10, output_tokens: 1, input_token_details: { cache_read: 11 } },
    { tokensOut: 1_000_000_001 },
    { tokensIn: Number.MAX_SAFE_INTEGER + 2 },
    { costUsd: 10_001 },
    { costUsd: '1' as unknown as number },
    { tokensIn: null as unknown as number },
    { requests: -1 },
    { requests: 1.5 },
  ])('is refused with a figure no call can have: %j', (report) => {
    expect(() => callUsage(report)).toThrow(RangeError);
  });
});

const FIGURE = fc.oneof(
  fc.integer({ min: 0, max: 1_000_000 }),
  fc.double(),
  fc.constantFrom(-1, -0, 1e9, 1e9 + 1, 1e300, Number.MAX_SAFE_INTEGER, Number.NaN, Infinity, -Infinity),
  fc.constantFrom<unknown>('5', '', null, true, [], {}).map((value) => value as number),
);
const REPORT = fc.record(
  { tokensIn: FIGURE, tokensOut: FIGURE, tokensCached: FIGURE, costUsd: FIGURE, model: fc.constant('gpt-5') },
  { requiredKeys: [] },
) as fc.Arbitrary<UsageReport>;
const RESERVE = fc.record({ usd: fc.double({ min: 0, max: 100, noNaN: true }), tokens: fc.nat(1_000_000) });

describe('what calls say about themselves', () => {
  it('never lowers what was spent, and counts for at least what was held back where it is refused', ({
    task,
  }) => {
    let ways = 0;
    fc.assert(
      fc.property(fc.array(REPORT, { maxLength: 6 }), RESERVE, (given, reserve) => {
        ways += given.length;
        tried(task, { ways });
        const reports = new UsageReports(reserve);
        let before = { tokens: 0, costUsd: 0, unpriced: 0 };
        for (const report of given) {
          reports.add(report);
          const { tokensIn = 0, tokensOut = 0, costUsd = 0, unpriced = 0 } = reports.total(DEFAULT_PRICES);
          const now = { tokens: tokensIn + tokensOut, costUsd, unpriced };
          for (const measure of ['tokens', 'costUsd', 'unpriced'] as const) {
            expect(Number.isFinite(now[measure])).toBe(true);
            expect(now[measure]).toBeGreaterThanOrEqual(before[measure]);
          }
          before = now;
        }
        if (reports.refused.length === 0) return;
        expect(before.tokens).toBeGreaterThanOrEqual(reserve.tokens);
        expect(before.costUsd).toBeGreaterThanOrEqual(reserve.usd);
        expect(before.unpriced).toBeGreaterThan(0);
      }),
      { numRuns: howMany('DEVS_USAGE_CASES', 300) },
    );
  });
});
