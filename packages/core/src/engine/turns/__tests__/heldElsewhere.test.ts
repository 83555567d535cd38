import type { Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../durable.ts';

const slept = vi.hoisted(() => ({ meanwhile: () => {} }));
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<object>()),
  setTimeout: async () => slept.meanwhile(),
}));

/** A run that has ended and is held by a process of another boot or host. */
async function heldElsewhere(db: Database) {
  const app = durable(twoSteps(), { db });
  await app.run('run', { log: ['a'] }, { turn: '1' });
  db.exec("UPDATE threads SET lease_owner = '9:9', lease_boot_id = 'elsewhere', lease_expires_mono = 1");
  return app;
}

describe('a run that another host holds', () => {
  test('begins its next turn once that has not renewed in time', async ({ db }) => {
    const app = await heldElsewhere(db);
    slept.meanwhile = () => {};
    expect(await app.run('run', { log: ['b'] }, { turn: '2' })).toMatchObject({
      status: 'completed',
      turn: '2',
    });
  });

  test('takes no turn while that renews, nor is it asked for ever', async ({ db }) => {
    const app = await heldElsewhere(db);
    slept.meanwhile = () => void db.exec('UPDATE threads SET lease_expires_mono = lease_expires_mono + 1');
    await expect(app.run('run', { log: ['b'] }, { turn: '2' })).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
      message: expect.stringContaining('process 9:9 holds the run'),
    });
  });
});
