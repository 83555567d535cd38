import { describe, expect, test } from 'vitest';
import { retryTime } from '../retryTime.ts';

/** A Monday, 14:30 UTC. */
const NOW = Date.UTC(2026, 2, 2, 14, 30);
const at = (text: string): string | null => {
  const time = retryTime(text, NOW);
  return time === null ? null : new Date(time).toISOString();
};

describe('when a provider takes requests again', () => {
  test.each([
    ['Rate limit reached for gpt-5. Please try again in 20s.', '2026-03-02T14:30:20.000Z'],
    ['Please try again in 1h2m3.5s. Visit the page.', '2026-03-02T15:32:03.500Z'],
    ["You've hit your usage limit. Try again in 3 hours 12 minutes.", '2026-03-02T17:42:00.000Z'],
    ['Try again in 1 day, 2 hours and 5 minutes', '2026-03-03T16:35:00.000Z'],
    ['Claude AI usage limit reached|1772470800', '2026-03-02T17:00:00.000Z'],
    ["You've hit your limit · resets 3pm (UTC)", '2026-03-02T15:00:00.000Z'],
    ['Limit reached, resets 9:15am (UTC)', '2026-03-03T09:15:00.000Z'],
    ['5-hour limit reached. Resets at 15:00 (Europe/Berlin)', '2026-03-03T14:00:00.000Z'],
    ['Quota is exhausted until 2026-03-02T18:00:00Z.', '2026-03-02T18:00:00.000Z'],
    ['retry after 40 s', '2026-03-02T14:30:40.000Z'],
  ])('is read from %j', (text, expected) => {
    expect(at(text)).toBe(expected);
  });

  test.each([
    'Too many requests.',
    'You exceeded your current quota, please check your plan and billing details.',
    'resets at 45:99 (UTC)',
    'resets 3pm (Nowhere/Atall)',
    'the test resets 12 counters',
  ])('is not told by %j', (text) => {
    expect(at(text)).toBeNull();
  });
});
