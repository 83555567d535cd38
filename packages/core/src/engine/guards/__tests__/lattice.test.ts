import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardOf, isNear, LATTICE, type Measure, precedence, warningLevel } from '../lattice.ts';

const MEASURES = LATTICE.flatMap(({ measures }) => measures);

describe('the lattice', () => {
  it('goes from the cheapest remedy to the dearest: retry, error, pivot, failure gate, budget, depth', () => {
    expect(LATTICE.map(({ guard }) => guard)).toEqual([
      'retry',
      'error',
      'pivot',
      'failure_gate',
      'budget',
      'depth',
    ]);
  });

  it('names every measure once', () => {
    expect(new Set(MEASURES).size).toBe(MEASURES.length);
  });

  it.each([
    [['entropy', 'turns'], 'turns', ['entropy']],
    [['depth', 'pivots'], 'pivots', ['depth']],
    [['usd', 'calls'], 'usd', ['calls']],
    [['attempts'], 'attempts', []],
  ] as [Measure[], Measure, Measure[]][])('of %j lets %s act', (tripped, winner, suppressed) => {
    const of = (measure: Measure) => ({ measure });
    expect(precedence(tripped.map(of))).toEqual({ winner: of(winner), suppressed: suppressed.map(of) });
  });

  it('has no winner where nothing tripped', () => {
    expect(precedence([])).toBeNull();
  });

  it('lets the highest guard act whatever the order of those that tripped, and loses none', () => {
    const rank = (measure: Measure) => LATTICE.findIndex(({ guard }) => guard === guardOf(measure));
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...MEASURES), { minLength: 1 }), (measures) => {
        const decided = precedence(measures.map((measure) => ({ measure })));
        const losers = decided?.suppressed.map(({ measure }) => measure) ?? [];
        const winner = decided?.winner.measure as Measure;
        expect([winner, ...losers].toSorted()).toEqual(measures.toSorted());
        for (const loser of losers) expect(rank(winner)).toBeLessThanOrEqual(rank(loser));
      }),
    );
  });
});

describe('a warning', () => {
  it.each([
    ['depth', 25, 20],
    ['depth', 7, 6],
    ['turns', 10, 8],
    ['calls', 3, 3],
    ['entropy', 0.75, 0.6],
    ['usd', 5, 4],
  ] as [Measure, number, number][])('of %s with limit %d comes from %d', (measure, limit, from) => {
    expect(warningLevel(measure, limit)).toBe(from);
  });

  it('is no warning at the limit, where the guard trips', () => {
    const at = (level: number) =>
      ({ measure: 'depth', level, limit: 25, episode: '', evidence: {} }) as const;
    expect([19, 20, 24, 25, 26].map((level) => isNear(at(level)))).toEqual([false, true, true, false, false]);
  });
});
