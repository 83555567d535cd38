import { describe, expect, test } from 'vitest';
import { classicPatterns, entropyScore } from './detectors.ts';
import { measure } from './measure.ts';
import { DEV, HELD_OUT } from './traces/sets.ts';
import { isStuck } from './traces/Trace.ts';

// `pnpm bench:entropy` prints all figures; these are the floor below which no change may take them.

describe('the labelled traces', () => {
  test('are 120, half of them held out, half of each in need of a human, none twice', () => {
    expect([DEV.length, HELD_OUT.length]).toEqual([60, 60]);
    expect([DEV, HELD_OUT].map((set) => set.filter(isStuck).length)).toEqual([30, 30]);
    expect(new Set([...DEV, ...HELD_OUT].map(({ about }) => about)).size).toBe(120);
  });

  test('hold several hundred turns that need no human', () => {
    const calm = [...DEV, ...HELD_OUT].filter((trace) => !isStuck(trace));
    expect(calm.flatMap(({ turns }) => turns).length).toBeGreaterThan(600);
  });
});

describe('the entropy score at the default threshold', () => {
  test.each([
    ['the traces it was tuned on', DEV, 0.96],
    ['the traces it was not tuned on', HELD_OUT, 0.86],
  ])('raises no false alarm on %s and finds most of the stuck ones', (_name, traces, recall) => {
    const figures = measure(traces, entropyScore);
    expect(figures.falseAlarms).toEqual([]);
    expect(figures).toMatchObject({ precision: 1, falsePer1000: 0 });
    expect(figures.recall).toBeGreaterThanOrEqual(recall);
  });

  test('finds at least half as many again as the five classic patterns, on traces it was not tuned on', () => {
    const [score, classic] = [entropyScore, classicPatterns].map(
      (detect) => measure(HELD_OUT, detect).recall,
    );
    expect(score).toBeGreaterThanOrEqual(1.5 * (classic ?? 1));
  });
});
