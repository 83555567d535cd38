import { expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { runPoison } from './runPoison.ts';

const ROUNDS = howMany('DEVS_CLUSTER_POISONS', 1);

test(
  'six good runs beside one that ends every process that drives it come to their ends, and at most five processes to theirs',
  async () => {
    const report = await runPoison({ rounds: ROUNDS, workers: ROUNDS === 1 ? 2 : 3 });
    expect(report).toMatchObject({ goodRuns: 6 * ROUNDS, violations: [] });
    expect(Math.min(...report.deaths)).toBe(5);
  },
  longer(120_000, ROUNDS),
);
