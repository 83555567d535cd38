import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { NO_FENCE } from '../../../state/commits/immediateTransaction.ts';
import { StepStore } from '../../../state/steps/StepStore.ts';
import { isPassed, limitUses, raisedLimits, reserveOf } from '../Budget.ts';

const nothing = {
  usd: 0,
  tokens: 0,
  calls: 0,
  reservedUsd: 0,
  reservedTokens: 0,
  largestUsd: 0,
  largestTokens: 0,
  largestCalls: 1,
};

describe('what is held back', () => {
  it('is what the call declares, else as much as the largest call so far', () => {
    const used = { ...nothing, largestUsd: 0.5, largestTokens: 900 };
    expect(reserveOf({}, used)).toEqual({ usd: 0.5, tokens: 900 });
    expect(reserveOf({ usd: 2 }, used)).toEqual({ usd: 2, tokens: 900 });
  });
});

describe('a limit', () => {
  it('is raised by what every human has added, and by nothing where it was not declared', () => {
    expect(raisedLimits({ usd: 5, calls: 3 }, [{ usd: 1 }, { usd: 0.5, tokens: 9 }])).toEqual({
      usd: 6.5,
      calls: 3,
    });
  });

  it('names only what was declared', () => {
    const uses = limitUses({ calls: 3 }, { ...nothing, calls: 3, ms: 10 }, { usd: 9, tokens: 9 });
    expect(uses.map(({ measure }) => measure)).toEqual(['calls']);
    expect(uses.filter(isPassed)).toHaveLength(1);
  });

  it('of a call that costs nothing is passed once nothing is left', () => {
    const use = { measure: 'usd', limit: 5, spent: 5, reserved: 0, next: 0 } as const;
    expect([isPassed(use), isPassed({ ...use, spent: 4.9 })]).toEqual([true, false]);
  });
});

/** What may happen to one of eight calls of a run, and what it then costs. */
type Act = { readonly call: number; readonly ends: 'done' | 'throws' | 'dies'; readonly units: number };

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.record({
    call: fc.nat(7),
    ends: fc.constantFrom('done', 'throws', 'dies'),
    units: fc.integer({ min: 0, max: 20 }),
  }),
  { maxLength: 60 },
);

describe('reservations', () => {
  test('never let a run whose calls cost no more than they hold back pass its limit; a crashed call holds back once', ({
    db,
  }) => {
    const steps = new StepStore(db);
    let runs = 0;
    fc.assert(
      fc.property(
        acts,
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 20, max: 40 }),
        (story, limit, most) => {
          runs += 1;
          const threadId = `run-${runs}`;
          let spent = 0;
          const begun = new Map<number, number>(); // calls in flight, and in their n-th attempt
          const finished = new Set<number>();
          for (const { call, ends, units } of story) {
            if (finished.has(call)) continue;
            const step = { threadId, lgTaskId: 'visit', name: `call-${call}`, node: 'n', taskId: null };
            const used = { ...steps.spendingBefore(step, null), ms: 0 };
            const next = { usd: 0, tokens: most };
            const others = [...begun.keys()].filter((other) => other !== call).length;
            expect(used.reservedTokens).toBe(others * most);
            expect(used.tokens).toBe(spent + others * most);
            if (limitUses({ tokens: limit }, used, next).some(isPassed)) continue;
            steps.intent({ ...step, reserve: next }, NO_FENCE);
            begun.set(call, 1);
            if (ends === 'dies') continue;
            begun.delete(call);
            spent += units;
            if (ends === 'throws') {
              steps.fail(step, { tokensIn: units }, NO_FENCE);
            } else {
              steps.finish(step, null, { tokensIn: units }, NO_FENCE);
              finished.add(call);
            }
            expect(spent).toBeLessThanOrEqual(limit);
          }
          expect(steps.costOf(threadId).tokensIn).toBe(spent);
        },
      ),
      { numRuns: 60 },
    );
  });
});
