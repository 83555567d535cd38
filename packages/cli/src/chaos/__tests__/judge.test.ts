import { describe, expect, it } from 'vitest';
import { NOTHING, type Observation } from '../observe.ts';
import { judge } from '../runChaos.ts';

const seen = (more: Partial<Observation>): Observation => ({ ...NOTHING, ...more });
const before = seen({ calls: ['a', 'b'], told: ['A'], logged: ['A'], recorded: new Set(['a']) });

describe('what is left after a kill', () => {
  it('is sound when only the call in flight was made again', () => {
    const calls = ['a', 'b', 'b', 'c'];
    const recorded = new Set(['a', 'b', 'c']);
    expect(judge(before, seen({ calls, told: ['A'], logged: ['A', 'B'], recorded }))).toEqual({
      inFlight: 1,
      violations: [],
    });
  });

  it.each<readonly [string, Partial<Observation>]>([
    ['acknowledged event was lost: A', { told: ['A', 'A'] }],
    ['recorded step was lost: a', { recorded: new Set() }],
    ['recorded call was repeated: a', { calls: ['a', 'b', 'a'] }],
    ['2 calls in flight were repeated: b, b', { calls: ['a', 'b', 'b', 'b'] }],
    ['state file is damaged', { sound: false }],
  ])('is found: %s', (violation, change) => {
    expect(judge(before, { ...before, ...change }).violations).toEqual([expect.stringContaining(violation)]);
  });
});
