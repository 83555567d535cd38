import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { circle, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';
import { durable } from '../support/runs/durable.ts';
import { Desk, Driver, DriverGone } from './Drivers.ts';

const LIMIT = 25;

/** Drives in one process after the other, as long as they kill themselves; returns how many did, and the last answer. */
async function driveUntilOneLives(dbPath: string, id: string, dieAt: readonly number[]) {
  for (let deaths = 0; deaths <= 10; deaths += 1) {
    const driver = await Driver.start(dbPath);
    const answer = await driver.drive({ run: 'circle', id, dieAt }).catch(ifGone);
    if (answer !== null) return { deaths, answer };
  }
  throw new Error('Every driver died.');
}

function ifGone(error: unknown): null {
  if (error instanceof DriverGone) return null;
  throw error;
}

const finishedVisits = (db: Database): number =>
  db
    .prepare<[], number>("SELECT count(DISTINCT visit) FROM langgraph_checkpoints WHERE turn_type = 'Action'")
    .pluck()
    .get() ?? 0;

describe('a counter', { timeout: 120_000 }, () => {
  test('of depth is exact over five kills: a limit of 25 asks at 25', async ({ db, dbPath }) => {
    const { deaths, answer } = await driveUntilOneLives(dbPath, 'run', [4, 9, 10, 17, 24]);
    expect(deaths).toBe(5);
    expect(answer).toMatchObject({
      status: 'waiting',
      gates: [{ kind: 'recursion_limit', artifact: { depth: LIMIT, limit: LIMIT } }],
    });
    expect(finishedVisits(db)).toBe(LIMIT - 1);
    expect(new Desk(dbPath).effects('visit')).toHaveLength(LIMIT - 1 + deaths);
  });

  test('of recoveries ends a run whose first node kills every driver at the fifth, with the reason', async ({
    db,
    dbPath,
  }) => {
    const { deaths, answer } = await driveUntilOneLives(dbPath, 'run', [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(answer).toEqual({
      status: 'dead_letter',
      reason: '5 processes died while executing it, without progress',
      gates: [],
    });
    expect(deaths).toBe(5);
    const driver = await Driver.start(dbPath);
    expect(await driver.drive({ run: 'circle', id: 'run' })).toEqual(answer);
    expect(new Desk(dbPath).effects('visit')).toHaveLength(deaths);
    expect(new ThreadStore(db).require('run')).toMatchObject({ status: 'dead_letter', leaseOwner: null });
  });
});

describe('a limit that is none', () => {
  const NONE = [Number.NaN, 0, -1, 2.5, Number.POSITIVE_INFINITY, '25', null, {}];

  test.for(NONE)('%s for maxDepth is refused before there is a run', (maxDepth, { db }) => {
    const guards = { maxDepth: maxDepth as number };
    expect(() => durable(circle(), { db, guards })).toThrow(RangeError);
  });

  test.for([Number.NaN, -0.1, 1.1, Number.POSITIVE_INFINITY, '0.5', null])(
    '%s for entropyThreshold is refused before there is a run',
    (entropyThreshold, { db }) => {
      const guards = { entropyThreshold: entropyThreshold as number };
      expect(() => durable(twoSteps(), { db, guards })).toThrow(RangeError);
    },
  );
});
