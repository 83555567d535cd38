import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { howMany } from '../../../test/support/howMany.ts';
import { durable } from '../app/durable.ts';
import { ada, circle } from './ownGraph.ts';

const STEPS = howMany('DEVS_LONG_RUN_STEPS', 100);

describe('a run of many steps in one process', () => {
  test('collects no listeners on the signals it is driven with', async ({ db }) => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));

    let steps = 0;
    const stop = new AbortController();
    const abort = new AbortController();
    const builder = circle(() => {
      steps += 1;
      if (steps === STEPS) stop.abort();
    });
    const app = durable(builder, { db, gates: { a: () => null }, guards: { maxDepth: 2 * STEPS } });
    const signals = { drain: stop.signal, signal: abort.signal };
    let result = await app.run('long', {}, signals);
    while (result.status === 'waiting') {
      for (const gate of result.gates) await app.decide(gate, { approved: true, by: ada });
      result = await app.run('long', undefined, signals);
    }
    expect([result.status, steps]).toEqual(['paused', STEPS]);
    expect(Object.values(signals).map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
    expect(warnings).not.toContain('MaxListenersExceededWarning');
  });
});
