import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
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

describe('throwOnFailure', () => {
  test('rejects with what the node threw as the cause, masked', async ({ db }) => {
    const app = durable(failing(), { db });
    const failed: unknown = await app
      .run('run', {}, { throwOnFailure: true })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(DevsError);
    expect(failed).toMatchObject({
      code: 'RUN_FAILED',
      message: expect.stringContaining('Run "run" has failed: over quota with ') as string,
      context: { threadId: 'run' },
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

  test('is not asked for: the result tells; and other ends reject nothing', async ({ db }) => {
    const app = durable(failing(), { db });
    expect(await app.run('run', {}, { throwOnFailure: false })).toMatchObject({ status: 'failed', error: { name: 'QuotaError' } });
    await internalsOf(app).recordRun({ threadId: 'gone', input: {} });
    await app.cancel('gone');
    expect(await app.run('gone', undefined, { throwOnFailure: true })).toMatchObject({ status: 'cancelled' });
    const fine = durable(twoSteps(), { db, version: '2' });
    expect(await fine.run('fine', {}, { throwOnFailure: true })).toMatchObject({ status: 'completed' });
  });
});
