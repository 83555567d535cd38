import { describe, expect, test } from 'vitest';
import { howMany } from '../../support/howMany.ts';
import { tried } from '../../support/tried.ts';
import { LIVES, type Moment, momentsOf } from './lives.ts';
import { tallyOf } from './tally.ts';

const FAULTS = howMany('DEVS_ROW_FAULTS', 80);
const SHORT = { lives: 8, files: 3 };
const LONG = { lives: LIVES.length, files: 10 };

describe('a row that is missing, or lies under the key of another', () => {
  test(`of any table never lets a run end with other values or past a gate (${FAULTS} faults)`, {
    timeout: 120_000 + FAULTS * 400,
  }, async ({ annotate, task }) => {
    const { lives, files } = FAULTS > 1000 ? LONG : SHORT;
    const moments: Moment[] = [];
    for (const life of LIVES.slice(0, lives)) moments.push(...(await momentsOf(life, files)));
    const tally = await tallyOf(moments, FAULTS);
    tried(task, { ways: tally.faults, through: tally.wrong.length });
    await annotate(JSON.stringify(tally));
    expect(tally.wrong).toEqual([]);
    expect(tally.untyped).toEqual([]);
    expect(tally.named).toBeGreaterThanOrEqual(tally.ofNamed * 0.99);
  });
});
