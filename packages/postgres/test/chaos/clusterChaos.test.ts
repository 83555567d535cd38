import { expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { runClusterChaos } from './runClusterChaos.ts';

const KILLS = howMany('DEVS_CLUSTER_KILLS', 1);

test(
  'runs are taken over and whole: workers are killed, their clocks wrong, a pooler before a server that takes no changes now and then',
  async () => {
    const report = await runClusterChaos({
      kills: KILLS,
      ...(KILLS === 1 && { workers: 2, slots: 1, waiting: 1, spares: 0, aims: true, readOnlyEvery: 1 }),
    });
    expect(report).toMatchObject({ kills: KILLS, violations: [] });
    expect(report.readOnly).toBeGreaterThan(0);
    expect(report.pooled).toBeGreaterThan(0);
    expect(report.takenOver).toBeGreaterThan(0);
  },
  longer(600_000, KILLS / 40),
);
