import type { Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';

const slept = vi.hoisted(() => ({ meanwhile: (): unknown => null }));

vi.mock('node:timers/promises', async (original) => ({
  ...(await original<object>()),
  setTimeout: async () => slept.meanwhile(),
}));

vi.mock('../../../db/FileWatch.ts', async (original) => ({
  ...(await original<object>()),
  FileNews: class {
    readonly next = async (): Promise<unknown> => slept.meanwhile();
    stop(): void {}
  },
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
    slept.meanwhile = () => null;
    expect(await app.run('run', { log: ['b'] }, { turn: '2' })).toMatchObject({
      status: 'completed',
      turn: '2',
    });
  });

  test('takes no turn while that renews, nor is it asked for ever', async ({ db }) => {
    const app = await heldElsewhere(db);
    slept.meanwhile = () => db.exec('UPDATE threads SET lease_expires_mono = lease_expires_mono + 1');
    await expect(app.run('run', { log: ['b'] }, { turn: '2' })).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
      message: expect.stringContaining('the run is in use by process 9:9'),
    });
  });
});

describe('a turn that is waited for', () => {
  test('is told as it ended once another has followed it, and is not driven', async ({ db, dbPath }) => {
    const gates = { second: () => 'go on?' };
    const app = durable(twoSteps(), { db, gates });
    const elsewhere = createDatabase({ dbPath });
    const other = durable(twoSteps(), { db: elsewhere, gates });
    slept.meanwhile = async () => {
      slept.meanwhile = () => new Promise((resolve) => setImmediate(resolve));
      await other.cancel('run');
      await other.run('run', { log: ['b'] }, { turn: '2' });
    };
    const waited = app.run('run', { log: ['a'] }, { turn: '1', wait: true });
    expect(await waited).toMatchObject({ status: 'cancelled', turn: '1', values: { log: ['a', 'first'] } });
    elsewhere.close();
  });
});
