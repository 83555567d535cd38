import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { CheckResult, StageAgents } from '../ports.ts';
import { driveToTheEnd } from './aPipeline.ts';
import { aWorld, file, quiet, work } from './aWorld.ts';

const WORK: Partial<StageAgents> = {
  ...quiet,
  writeTest: async () => work(file('test/a.txt', 'a=1')),
  implement: async () => work(file('src/a.txt', 'a=1')),
};

/** The checks, in which an old case and its state are told by the number of the run, from 1: the baseline. */
const withOld =
  (states: Readonly<Record<number, 'failed' | 'flaky'>>) =>
  (result: CheckResult, number: number): CheckResult => {
    const state = states[number];
    const cases = (result.cases ?? []).map((each) =>
      each.name === 'old=1' && state === 'failed' ? { name: each.name, state: 'failed' as const } : each,
    );
    const failed = cases.some((each) => each.state === 'failed');
    return { ...result, cases, passed: !failed, ...(state === 'flaky' && { flaky: ['old=1'] }) };
  };

/** A repository with a case of its own, which is no part of the task. */
async function worldWith(db: Database, states: Parameters<typeof withOld>[0], agents = WORK) {
  const world = await aWorld(db, { says: withOld(states), agents });
  await world.run.apply([file('test/old.txt', 'old=1'), file('src/old.txt', 'old=1')]);
  return world;
}

const RUNS = { baseline: 1, red: 2, green: 3, without: 4 } as const;

describe('a case of the baseline', () => {
  test('that was flaky there and fails now does not fail the attempt, and is not looked at again', async ({
    db,
  }) => {
    const world = await worldWith(db, { [RUNS.baseline]: 'flaky', [RUNS.green]: 'failed' });
    expect(await driveToTheEnd(world)).toMatchObject({ status: 'completed', values: { taskAttempts: 1 } });
    expect(world.runs).toHaveLength(3);
  });

  test('that was seen to be flaky since does not either', async ({ db }) => {
    const world = await worldWith(db, {
      [RUNS.red]: 'flaky',
      [RUNS.green]: 'failed',
      [RUNS.without]: 'flaky',
    });
    const { status, values } = await driveToTheEnd(world);
    expect([status, values?.taskAttempts]).toEqual(['completed', 1]);
    expect(values?.projectConfig.flaky).toEqual(['old=1']);
  });

  test('that passes without the work fails the attempt', async ({ db }) => {
    const world = await worldWith(db, { [RUNS.green]: 'failed' });
    const { status, values } = await driveToTheEnd(world);
    expect([status, values?.taskAttempts]).toEqual(['completed', 2]);
    expect(values?.agentLogs[0]?.content.observation).toContain('These fail: old=1.');
  });
});

test('a case that the work brought fails it: also where it fails and passes on the same files', async ({
  db,
}) => {
  const world = await aWorld(db, {
    agents: WORK,
    says: (result, number) => (number === 2 ? { ...result, flaky: ['a=1'] } : result),
  });
  const { status, values } = await driveToTheEnd(world);
  expect([status, values?.taskAttempts]).toEqual(['completed', 2]);
  expect(values?.agentLogs[0]?.content.observation).toContain(
    'New cases fail and pass on the same files: a=1.',
  );
});

test('a stage that says nothing, or is cut off, is repeated by itself', async ({ db }) => {
  const calls: string[] = [];
  const world = await aWorld(db, {
    agents: {
      ...quiet,
      writeTest: async () => {
        calls.push('writeTest');
        return work(file('test/a.txt', 'a=1'));
      },
      implement: async () => {
        calls.push('implement');
        if (calls.length > 2) return work(file('src/a.txt', 'a=1'));
        const context = { answer: 'cut' };
        throw new DevsError('It said nothing.', {
          code: 'AGENT_INVALID_OUTPUT',
          remedy: 'Ask again.',
          context,
        });
      },
    },
  });
  expect(await driveToTheEnd(world)).toMatchObject({ status: 'completed', values: { taskAttempts: 1 } });
  expect(calls).toEqual(['writeTest', 'implement', 'implement']);
});
