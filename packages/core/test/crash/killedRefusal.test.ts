import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { durable } from '../../src/engine/app/durable.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { callsIn, oneCall } from './refusedResult.ts';

const CHILD = 'packages/core/test/crash/killedRefusal.child.ts';

describe('a process killed between a result that cannot be stored and the end of its run', () => {
  test('leaves a run that ends so, and makes the call again only when it is driven once more', async ({
    dbPath,
  }) => {
    const log = join(dirname(dbPath), 'calls.log');
    expect(await spawnProgram(CHILD, [dbPath, log]).finished).toMatchObject({
      signal: 'SIGKILL',
      stderr: '',
    });
    expect(callsIn(log)).toBe(1);

    const app = durable(oneCall(log, 'plain'), { file: dbPath });
    const ended = await app.run('run', undefined, { throwOnFailure: false });
    expect([ended.status, ended.reason]).toEqual([
      'failed',
      expect.stringContaining(
        'VALUE_NOT_STORABLE: The result of step "ask" cannot be stored. The value at $',
      ),
    ]);
    expect([callsIn(log), internalsOf(app).store.steps.costOf('run').costUsd]).toEqual([1, 0.5]);

    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { answer: 'plain' } });
    expect([callsIn(log), internalsOf(app).store.steps.costOf('run').costUsd]).toEqual([2, 1]);
    app.close();
  });
});
