import { randomInt } from 'node:crypto';
import { env } from 'node:process';
import { describe, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { tried } from '../../../core/test/support/tried.ts';
import { type Histogram, runChaos } from './runChaos.ts';

/** `pnpm chaos --kills 1000` is the same with more of them. */
const kills = howMany('CHAOS_KILLS', 3);
const isShort = env['CHAOS_KILLS'] === undefined;
/** Each brings scenarios of its own, which also run without kills, to compare with. */
const chains = isShort ? 1 : 3;
const pipeline = Math.ceil(kills * 0.6);
const KILLS = { pipeline, ownGraph: kills - pipeline };

/** Printed with every result; given again, it gives the same scenarios, moments and latencies. */
const seed = Number(env['CHAOS_SEED'] ?? randomInt(2 ** 31));

const shown = (counts: Histogram): string =>
  Object.entries(counts)
    .map(([repeats, times]) => `${times} × ${repeats}`)
    .join(', ');

describe('drivers killed with -9 at random moments', () => {
  test('lose nothing, tear nothing and repeat nothing that was recorded', {
    timeout: 180_000 + kills * 5_000,
  }, async ({ annotate, task }) => {
    const report = await runChaos({ kills: KILLS, seed, chains, isShort });
    tried(task, { ways: report.kills.pipeline + report.kills.ownGraph, through: report.violations.length });
    await annotate(
      `CHAOS_SEED=${seed}; calls made again per kill: ${shown(report.repeatedCalls)}; nodes redone: ${shown(report.redoneNodes)}`,
    );
    expect(report.violations, `CHAOS_SEED=${seed}`).toEqual([]);
    expect(report.kills).toEqual(KILLS);
  });
});
