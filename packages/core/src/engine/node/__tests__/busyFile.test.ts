import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { otherWriter } from '../../../../test/support/otherWriter.ts';
import { setBusyTimeout } from '../../../db/busy.ts';
import { ada, says, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../step.ts';

/** Longer than the engine's connection waits for itself, ms: what is kept until then is kept by the engine. */
const HELD_MS = 1_200;

describe('a state file that another process holds', () => {
  test('costs no call: a result in hand is kept until it can be recorded', async ({ db, dbPath }) => {
    const { hold } = otherWriter(dbPath);
    setBusyTimeout(db, 300);
    let calls = 0;
    const paid = async () => {
      const log = await step('paid', async () => {
        calls += 1;
        hold(HELD_MS);
        return 'paid';
      });
      return { log: [log] };
    };
    const app = durable(twoSteps(paid, says('after')), { db });
    expect((await app.run('run', {})).values?.log).toEqual(['paid', 'after']);
    expect(calls).toBe(1);
    expect(internalsOf(app).store.steps.listForThread('run')).toMatchObject([{ state: 'done', attempt: 1 }]);
  });

  test('keeps one call from beginning once its node has thrown', async ({ db, dbPath }) => {
    const { hold } = otherWriter(dbPath);
    let calls = 0;
    const left = async (): Promise<never> => {
      hold(HELD_MS);
      void step('late', async () => (calls += 1)).catch(() => undefined);
      throw new Error('left');
    };
    const app = durable(twoSteps(left, says('after')), { db });
    expect(await app.run('run', {}, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
    await sleep(100);
    expect(calls).toBe(0);
  });

  test('delays a decision, a signal and a node, and fails none of them', async ({ db, dbPath }) => {
    const { hold } = otherWriter(dbPath);
    const app = durable(twoSteps(says('built'), says('released')), {
      db,
      gates: { second: ({ log }) => log },
    });
    hold(HELD_MS);
    const gate = only((await app.run('run', {})).gates);
    hold(HELD_MS);
    let turns = 0;
    const beat = setInterval(() => (turns += 1), 5);
    await app.decide(gate, { approved: true, by: ada });
    clearInterval(beat);
    expect(turns).toBeGreaterThan(2);
    hold(HELD_MS);
    await app.signal('run', 'news', 1, { by: ada, signalId: 's' });
    expect((await app.run('run')).values?.log).toEqual(['built', 'released']);
  });
});
