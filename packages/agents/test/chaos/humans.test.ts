import { randomInt } from 'node:crypto';
import { env } from 'node:process';
import { describe, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { tried } from '../../../core/test/support/tried.ts';
import { runChaos } from './runChaos.ts';
import { HUMANS } from './scenarios.ts';

/** `CHAOS_HUMANS=50` kills more, in every scenario. */
const kills = { pipeline: howMany('CHAOS_HUMANS', 3), ownGraph: 0 };
const isShort = env['CHAOS_HUMANS'] === undefined;
const pipelines = isShort ? HUMANS.slice(0, 1) : HUMANS;

/** Printed with every result. */
const seed = Number(env['CHAOS_SEED'] ?? randomInt(2 ** 31));

describe('edits and goals, killed with -9 while they are recorded and taken up', () => {
  test('end as if nobody had been killed: one winner, each goal set and reached once, no recorded call again', {
    timeout: 1_800_000,
  }, async ({ task }) => {
    const report = await runChaos({ kills, seed, pipelines, chains: 1, share: 0.5, isShort });
    tried(task, { ways: report.kills.pipeline + report.kills.ownGraph, through: report.violations.length });
    expect(report.violations, `CHAOS_SEED=${seed}`).toEqual([]);
    expect(report.kills).toEqual(kills);
  });
});
