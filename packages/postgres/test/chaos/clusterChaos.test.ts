import { expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { runClusterChaos } from './runClusterChaos.ts';

const KILLS = howMany('DEVS_CLUSTER_KILLS', 1);

test(
  'runs that several workers drive are whole, whoever is killed',
  async () => {
    const report = await runClusterChaos({ kills: KILLS, ...(KILLS === 1 && { workers: 2, slots: 2 }) });
    expect(report).toMatchObject({ kills: KILLS, violations: [] });
  },
  longer(600_000, KILLS / 40),
);
