import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { ofOneFile } from '../../../../test/support/runs/where.ts';
import { DevsError } from '../../../errors/DevsError.ts';
import { twoSteps } from '../../__tests__/ownGraph.ts';
import { internalsOf } from '../../file/appInternals.ts';

class QuotaError extends Error {
  override readonly name = 'QuotaError';
}

const failing = () =>
  twoSteps(undefined, () => {
    const key = `sk-ant-api03-${'Ab1'.repeat(31)}AA`;
    throw new QuotaError(`over quota with ${key}`, { cause: new TypeError('none left') });
  });

describe('a run that has failed', () => {
  test('rejects with what the node threw as the cause, masked', async ({ db }) => {
    const app = durable(failing(), { db });
    const failed: unknown = await app.run('run', {}).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(DevsError);
    expect(failed).toMatchObject({
      code: 'RUN_FAILED',
      message: expect.stringContaining('Run "run" has failed: over quota with ') as string,
      context: { threadId: 'run', status: 'failed' },
      cause: { name: 'QuotaError', stack: expect.stringContaining('runFailed.test') as string },
    });
    const { cause } = failed as DevsError;
    expect((cause as Error).cause).toMatchObject({ name: 'TypeError', message: 'none left' });
    expect(JSON.stringify([String(failed), String(cause), (cause as Error).stack])).not.toContain('Ab1Ab1');
    expect(internalsOf(app).store.threads.require('run')).toMatchObject({
      status: 'failed',
      leaseOwner: null,
    });
  });

  test('ends a stream that drove it, after its last event; who only reads is told', async ({ db }) => {
    const app = durable(failing(), { db });
    const modes: string[] = [];
    const driving = async (options = {}) => {
      for await (const { mode } of app.stream('run', {}, options)) modes.push(mode);
    };
    await expect(driving()).rejects.toMatchObject({ code: 'RUN_FAILED', cause: { name: 'QuotaError' } });
    expect(modes).toEqual(['updates', 'end']);
    await driving({ throwOnFailure: false });
    for await (const { mode } of app.stream('run', null)) modes.push(mode);
    expect(modes.at(-1)).toBe('end');
  });

  test(
    'as a dead letter rejects, too, and says how it comes back',
    ofOneFile('plants rows'),
    async ({ db }) => {
      const app = durable(twoSteps(), { db });
      await app.start('dead', { log: [] });
      db.prepare(
        "UPDATE threads SET status = 'dead_letter', reason = 'its processes died', ended_at = 1",
      ).run();
      await expect(app.run('dead')).rejects.toMatchObject({
        code: 'RUN_FAILED',
        message: 'Run "dead" is a dead letter: its processes died',
        remedy: expect.stringContaining('app.revive(id, { by })') as string,
        context: { threadId: 'dead', status: 'dead_letter' },
      });
      expect(await app.run('dead', undefined, { throwOnFailure: false })).toMatchObject({
        status: 'dead_letter',
      });
    },
  );

  test('is told by its status where that is asked for; other ends reject nothing', async ({ db }) => {
    const app = durable(failing(), { db });
    expect(await app.run('run', {}, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      error: { name: 'QuotaError' },
    });
    await internalsOf(app).recordRun({ threadId: 'gone', input: {} });
    await app.cancel('gone');
    expect(await app.run('gone')).toMatchObject({ status: 'cancelled' });
    const fine = durable(twoSteps(), { db, version: '2' });
    expect(await fine.run('fine', {})).toMatchObject({ status: 'completed' });
  });
});
