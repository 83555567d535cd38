import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentAction } from '../EntropyPart.ts';
import { entropyAlong, scoreEntropy } from '../scoreEntropy.ts';

const shares = (turns: readonly AgentAction[]): Readonly<Record<string, number>> =>
  Object.fromEntries(scoreEntropy(turns).parts.map(({ part, share }) => [part, share]));

const times = (count: number, turn: (index: number) => AgentAction): readonly AgentAction[] =>
  Array.from({ length: count }, (_, index) => turn(index + 1));

/** Few values per field, so that repetitions of every kind are frequent. */
const aTurn: fc.Arbitrary<AgentAction> = fc.record(
  {
    action: fc.constantFrom('read a', 'read b', 'edit a', 'test'),
    tool: fc.constantFrom('read', 'edit', 'test'),
    output: fc.constantFrom(
      'ok',
      'x'.repeat(50),
      'one two three '.repeat(9),
      'four five six seven '.repeat(8),
    ),
    outputHash: fc.constantFrom('h1', 'h2'),
    error: fc.constantFrom('E1: no such file', 'E2: refused'),
    tests: fc.record({ passed: fc.nat(4), failed: fc.nat(4) }),
    tree: fc.constantFrom('t1', 't2', 't3'),
  },
  { requiredKeys: ['action'] },
);
const aTrace = fc.array(aTurn, { maxLength: 30 });

describe('scoreEntropy', () => {
  test('is 0 for no turns, for one, and for turns that bring something new each', () => {
    expect(scoreEntropy([])).toEqual({ score: 0, parts: [] });
    expect(scoreEntropy([{ action: 'read a', output: 'a' }]).score).toBe(0);
    expect(scoreEntropy(times(50, (i) => ({ action: `read ${i}`, output: `part ${i}` }))).score).toBe(0);
  });

  test('is always in [0, 1], and its shares add up to it', () => {
    fc.assert(
      fc.property(aTrace, (turns) => {
        const { score, parts } = scoreEntropy(turns);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
        expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(score, 3);
        expect(parts.every(({ evidence }) => evidence !== '')).toBe(true);
      }),
    );
  });

  test('is never lowered by a copy of an earlier turn', () => {
    fc.assert(
      fc.property(aTrace, fc.nat(), (turns, pick) => {
        const copied = turns[pick % Math.max(1, turns.length)];
        fc.pre(copied !== undefined);
        const longer = scoreEntropy([...turns, { ...copied }]).score;
        expect(longer).toBeGreaterThanOrEqual(scoreEntropy(turns).score);
      }),
      { numRuns: 500 },
    );
  });

  test('gives the same for the same turns, and leaves them as they are', () => {
    fc.assert(
      fc.property(aTrace, (turns) => {
        const before = structuredClone(turns);
        expect(scoreEntropy(turns)).toEqual(scoreEntropy(structuredClone(turns)));
        expect(turns).toEqual(before);
      }),
    );
  });

  test('grows along a trace as it does turn by turn', () => {
    fc.assert(
      fc.property(aTrace, (turns) => {
        const along = entropyAlong(turns);
        expect(along).toEqual(turns.map((_, index) => scoreEntropy(turns.slice(0, index + 1)).score));
      }),
    );
  });

  test('reads the last 200 turns and the ends of long texts only', () => {
    const loop = times(10, () => ({ action: 'read', output: 'x'.repeat(60) }));
    const fresh = times(200, (i) => ({ action: `read ${i}`, output: `part ${i}` }));
    expect(scoreEntropy([...loop, ...fresh]).score).toBe(0);
    const huge = (middle: string): AgentAction => ({
      action: 'log',
      output: `${'a '.repeat(2_000)}${middle}${'b '.repeat(2_000)}`,
    });
    expect(scoreEntropy([huge('1'), huge('2')]).parts[0]?.part).toBe('same_output');
  });
});

describe('the parts of the score', () => {
  test('same_output sees one output again, but for times and ids', () => {
    const turns = times(5, (i) => ({
      action: 'status',
      output: `2026-01-0${i}T10:00:00Z idle, ${i * 3} ms`,
    }));
    expect(shares(turns)).toEqual({ same_output: expect.closeTo(0.827, 3) });
  });

  test('same_output counts a short answer together with its action', () => {
    expect(scoreEntropy(times(9, (i) => ({ action: `edit ${i}`, output: 'ok' }))).score).toBe(0);
    expect(scoreEntropy(times(9, () => ({ action: 'edit a', output: 'ok' }))).score).toBeGreaterThan(0.75);
  });

  test('same_output weighs half where the files are others than before', () => {
    const lint = (tree: (i: number) => string) =>
      times(4, (i) => ({ action: 'lint', output: 'No problems found.', tree: tree(i) }));
    expect(scoreEntropy(lint((i) => `t${i}`)).score).toBeLessThan(scoreEntropy(lint(() => 't')).score);
  });

  test('near_same_output sees almost the same words', () => {
    const turns = times(8, (i) => ({
      action: 'message',
      output: `Report ${i}. The migration is being prepared, all preconditions were checked and found in order, and it will be carried out as soon as the preparation is finished.`,
    }));
    expect(Object.keys(shares(turns))).toEqual(['near_same_output']);
    expect(scoreEntropy(turns).score).toBeGreaterThan(0.75);
  });

  test('near_same_output keeps silent where the tests say something new', () => {
    const log = `${'PASS this test works as described in its requirement '.repeat(3)}and so on through all the files`;
    const turns = times(8, (i) => ({
      action: 'test',
      output: `${log} ${i}`,
      tests: { passed: i, failed: 9 },
    }));
    expect(scoreEntropy(turns).score).toBe(0);
  });

  test('same_error sees one error whatever was done, and trips at the fourth', () => {
    const turns = times(4, (i) => ({
      action: `try ${i}`,
      error: `/srv/app/x${i}.ts:${i}:7 is not a function`,
    }));
    const along = entropyAlong(turns);
    expect(along[2]).toBeLessThan(0.75);
    expect(along[3]).toBeGreaterThan(0.75);
    expect(scoreEntropy(turns).parts).toEqual([
      {
        part: 'same_error',
        share: along[3],
        evidence: expect.stringMatching(/^the same error 4 times \(turns 1, 2, 3, 4\)/),
      },
    ]);
  });

  test('alternation sees A-B-A-B and circles of three and four', () => {
    for (const period of [2, 3, 4]) {
      const turns = times(3 * period, (i) => ({ action: `step ${i % period}`, output: 'ok' }));
      expect(Object.keys(shares(turns))).toContain('alternation');
    }
    expect(shares(times(9, () => ({ action: 'step', output: 'ok' })))).not.toHaveProperty('alternation');
  });

  test('same_test_results sees tests that stay red through edits', () => {
    const turns = times(5, (i) => ({ action: `try ${i}`, tests: { passed: 9, failed: 1 }, tree: `t${i}` }));
    expect(shares(turns)).toEqual({ same_test_results: expect.closeTo(0.681, 3) });
  });

  test('same_test_results takes fewer failures than ever for proof of progress, and green for no loop', () => {
    const stuck = times(5, (i) => ({ action: `try ${i}`, tests: { passed: 9, failed: 2 } }));
    const better: AgentAction = { action: 'try 6', tests: { passed: 10, failed: 1 } };
    expect(scoreEntropy([...stuck, better]).score).toBeLessThan(0.2);
    expect(
      scoreEntropy(times(9, (i) => ({ action: `edit ${i}`, tests: { passed: 9, failed: 0 } }))).score,
    ).toBe(0);
  });

  test('undone_edits sees files go back to what they were', () => {
    const turns = times(6, (i) => ({ action: `edit ${i}`, tree: i % 2 === 0 ? 'with' : 'without' }));
    expect(scoreEntropy(turns).parts).toEqual([
      {
        part: 'undone_edits',
        share: expect.closeTo(0.772, 3),
        evidence: 'after turn 6 the files are again as after turn 2',
      },
    ]);
  });

  test('undone_edits does not mind turns that edit nothing', () => {
    expect(scoreEntropy(times(9, (i) => ({ action: `read ${i}`, tree: 'same' }))).score).toBe(0);
  });
});

describe('polling', () => {
  const turns = times(9, () => ({ action: 'ci status 8', tool: 'ci', output: 'running' }));

  test('is left out by tool name or predicate', () => {
    expect(scoreEntropy(turns).score).toBeGreaterThan(0.75);
    expect(scoreEntropy(turns, { polling: ['ci'] }).score).toBe(0);
    expect(scoreEntropy(turns, { polling: ({ action }) => action.startsWith('ci status') }).score).toBe(0);
  });

  test('does not hide work between', () => {
    const work: AgentAction = { action: 'deploy', error: 'readiness probe failed' };
    const mixed = turns.slice(0, 5).flatMap((turn) => [turn, work]);
    expect(scoreEntropy(mixed, { polling: ['ci'] })).toMatchObject({
      parts: [{ evidence: expect.stringContaining('turns 2, 4, 6, 8, 10') }],
    });
  });
});

describe('turns that cannot be read', () => {
  test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])('are refused: %s failed tests', (failed) => {
    expect(() => scoreEntropy([{ action: 'test', tests: { passed: 1, failed } }])).toThrow(
      new RangeError(`Expected tests.failed of turn 1 to be a count, got ${failed}.`),
    );
  });

  test('are refused: no action, an output that is no text', () => {
    expect(() => scoreEntropy([{} as AgentAction])).toThrow(TypeError);
    expect(() => scoreEntropy([{ action: 'a', output: 5 as unknown as string }])).toThrow(
      new TypeError('Expected output of turn 1 to be a string, got 5.'),
    );
  });
});
