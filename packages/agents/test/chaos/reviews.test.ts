import { randomInt } from 'node:crypto';
import { env } from 'node:process';
import { describe, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { tried } from '../../../core/test/support/tried.ts';
import { runChaos } from './runChaos.ts';
import { REVIEWERS } from './scenarios.ts';

/** `CHAOS_REVIEWS=50` kills more, in every scenario; so does `pnpm chaos --review --kills 50`. */
const kills = { pipeline: howMany('CHAOS_REVIEWS', 2), ownGraph: 0 };
const isShort = env['CHAOS_REVIEWS'] === undefined;
const pipelines = isShort ? REVIEWERS.filter(({ workspace }) => workspace === 'file') : REVIEWERS;
/** Each runs the scenario also without kills, to compare with. */
const chains = isShort ? 1 : 2;

/** Printed with every result. */
const seed = Number(env['CHAOS_SEED'] ?? randomInt(2 ** 31));

describe('code reviews, killed with -9 while they are asked, answered and taken up', () => {
  test('end as if nobody had been killed: the same commits, decisions and files, no recorded call again', {
    timeout: 1_800_000,
  }, async ({ task }) => {
    const report = await runChaos({ kills, seed, pipelines, chains, share: 0.6, isShort });
    tried(task, { ways: report.kills.pipeline + report.kills.ownGraph, through: report.violations.length });
    expect(report.violations, `CHAOS_SEED=${seed}`).toEqual([]);
    expect(report.kills).toEqual(kills);
  });
});
