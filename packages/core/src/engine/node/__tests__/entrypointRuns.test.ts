// How a run of an entrypoint is paused, cancelled, executed by a worker and examined.
import { setTimeout as wait } from 'node:timers/promises';
import { entrypoint, getConfig, getPreviousState, interrupt, task } from '@langchain/langgraph';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { notThroughRuns } from '../../../../test/support/runs/where.ts';
import { LOOK_EVERY_MS } from '../../../db/FileWatch.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { ada } from '../../__tests__/ownGraph.ts';
import { ScriptedModel } from '../../agent/__tests__/agent.ts';
import { durable as durableOver } from '../../app/durable.ts';
import { step } from '../step.ts';
import { child, sleep, waitFor } from '../waitFor.ts';

function opening() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A task that is in flight until it is let go of, or its signal aborts it. */
function holding() {
  const calls: string[] = [];
  const { opened: isHeld, open: hold } = opening();
  const { opened: free, open: letGo } = opening();
  const held = task('held', async (what: string) => {
    calls.push(what);
    hold();
    const { signal } = getConfig();
    await Promise.race([free, wait(60_000, undefined, { signal, ref: false })]);
    return `held ${what}`;
  });
  return { calls, held, isHeld, letGo };
}

/** A task that counts its calls. */
function counting() {
  const calls: string[] = [];
  const called = task('add', async (what: string) => {
    calls.push(what);
    return `add ${what}`;
  });
  return { calls, called };
}

describe('a run of an entrypoint', () => {
  test('that is paused ends the task in flight, begins no other, and goes on with their results', async ({
    db,
  }) => {
    const [slow, quick] = [holding(), counting()];
    const flow = entrypoint('flow', async (what: string) => [
      await quick.called(what),
      await slow.held(what),
      await quick.called('next'),
    ]);
    const app = durable(flow, { db });
    const driven = app.run('run', 'x');
    await slow.isHeld;
    expect(await app.pause('run', { by: ada })).toEqual({ isAccepted: true, status: 'running' });
    await wait(2 * LOOK_EVERY_MS); // the driver hears of it by the file
    slow.letGo();
    expect(await driven).toMatchObject({ status: 'paused', reason: 'pause' });
    expect([slow.calls, quick.calls]).toEqual([['x'], ['x']]);
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    expect((await app.run('run')).values).toEqual(['add x', 'held x', 'add next']);
    expect([slow.calls, quick.calls]).toEqual([['x'], ['x', 'next']]);
  });

  test('that is paused at once makes the aborted task again, inside another task, too', async ({ db }) => {
    const [slow, quick] = [holding(), counting()];
    const outer = task('outer', async (what: string) => [await quick.called(what), await slow.held(what)]);
    const app = durable(
      entrypoint('flow', async (what: string) => outer(what)),
      { db },
    );
    const driven = app.run('run', 'x');
    await slow.isHeld;
    await app.pause('run', { abort: true });
    expect(await driven).toMatchObject({ status: 'paused', reason: 'pause' });
    slow.letGo();
    expect((await app.run('run')).values).toEqual(['add x', 'held x']);
    expect([slow.calls, quick.calls]).toEqual([['x', 'x'], ['x']]);
  });

  test(
    'that is cancelled ends with its question, its task in flight and its children',
    notThroughRuns('asks another method'),
    async ({ db }) => {
      const below = durable(
        entrypoint('below', async () => interrupt<string, string>('Which?')),
        { db },
      );
      const slow = holding();
      const asks = task('asks', async () => interrupt<string, string>('Sure?'));
      const flow = entrypoint('flow', async (what: string) => {
        if (what === 'asks') return asks();
        if (what === 'held') return slow.held(what);
        return (await child(below, 'child', 'x')).status;
      });
      const app = durable(flow, { db });
      await app.run('asks', 'asks');
      expect(await app.cancel('asks')).toEqual({ isAccepted: true, status: 'cancelled' });
      expect(await app.gates('asks')).toEqual([]);

      const driven = app.run('held', 'held');
      await slow.isHeld;
      expect(await app.cancel('held')).toMatchObject({ isAccepted: true });
      expect(await driven).toMatchObject({ status: 'cancelled' });

      expect(await app.run('parent', 'child')).toMatchObject({ status: 'waiting' });
      await app.cancel('parent');
      expect((await below.get('child'))?.status).toBe('cancelled');
      expect(await app.cancel('parent')).toEqual({ isAccepted: false, status: 'cancelled' });
    },
  );

  test('is stopped in the next turn alone', async ({ db }) => {
    const flow = entrypoint('flow', async (add: number) => {
      const sum = (getPreviousState<number>() ?? 0) + add;
      if (add === 3) interrupt('Three?');
      return entrypoint.final({ value: sum, save: sum });
    });
    const app = durable(flow, { db });
    await app.run('run', 2, { turn: '1' });
    await app.run('run', 3, { turn: '2' });
    await app.cancel('run', { turn: '2' });
    expect((await app.run('run', 4, { turn: '3' })).values).toBe(6);
  });
});

describe('a worker', () => {
  test(
    'executes entrypoints: from their start, behind answers, timers and signals, over turns',
    notThroughRuns('asks another method'),
    async ({ dbPath }) => {
      const { calls, called } = counting();
      const flow = entrypoint('flow', async (what: string) => {
        const before = getPreviousState<string>() ?? 'nothing';
        await sleep(5);
        const heard = await waitFor<string>('word');
        const value = [await called(what), heard, interrupt<string, string>('Go on?'), before].join(', ');
        return entrypoint.final({ value, save: what });
      });
      const open = () => durableOver(flow, { file: dbPath });
      const [web, worker] = [open(), open()];
      const stop = new AbortController();
      const errors: unknown[] = [];
      const done = worker.work({ signal: stop.signal, onError: (error) => errors.push(error) });
      onTestFinished(async () => {
        stop.abort();
        await done;
        await Promise.all([web.close(), worker.close()]);
      });
      for (const [turn, before] of [
        ['one', 'nothing'],
        ['two', 'one'],
      ] as const) {
        await web.start('run', turn, { turn });
        await web.signal('run', 'word', `heard ${turn}`, { by: ada, signalId: turn });
        while ((await web.gates('run')).length === 0) await wait(5);
        await web.decide(only(await web.gates('run')), { value: 'yes', by: ada });
        expect(await web.result('run', { wait: true })).toMatchObject({
          status: 'completed',
          values: `add ${turn}, heard ${turn}, yes, ${before}`,
        });
      }
      expect([calls, errors]).toEqual([['one', 'two'], []]);
    },
  );
});

describe('the doctor', () => {
  test(
    'finds nothing in a file of entrypoints, wherever their runs stand',
    notThroughRuns('asks another method'),
    async ({ db }) => {
      const { called } = counting();
      const asks = task('asks', async () => interrupt<string, string>('Sure?'));
      const flow = entrypoint('flow', async (what: string) => {
        await called(what);
        if (what === 'fails') throw new Error('no');
        if (what === 'asks') return asks();
        if (what === 'asks itself') return interrupt<string, string>('Sure?');
        if (what === 'sleeps') await sleep(60_000);
        return entrypoint.final({ value: what, save: new Map([['what', what]]) });
      });
      const app = durable(flow, { db });
      for (const what of ['ends', 'fails', 'asks', 'asks itself', 'sleeps'])
        await app.run(what, what, { throwOnFailure: false });
      await app.run('ends', 'again', { turn: 'next' });
      await app.cancel('asks');
      await app.fork('asks itself', { as: 'fork', by: ada });
      expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
      await app.delete('ends', { by: ada });
      await app.prune('asks itself', { keepLast: 1 });
      expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
    },
  );

  test(
    'names a model that an entrypoint calls outside of its tasks, and none inside',
    notThroughRuns('asks another method'),
    async ({ db }) => {
      const model = new ScriptedModel([{ text: 'yes' }]);
      const ask = task('ask', async () => (await model.invoke('?')).text);
      const inStep = () => step('ask', async () => (await model.invoke('?')).text);
      const careful = durable(
        entrypoint('careful', async () => [await ask(), await inStep()]),
        { db },
      );
      expect((await careful.run('careful', 'x')).values).toEqual(['yes', 'yes']);
      expect(doctor(db).findings).toEqual([]);
      const hasty = durable(
        entrypoint('hasty', async () => (await model.invoke('?')).text),
        { db },
      );
      await hasty.run('hasty', 'x');
      expect(doctor(db).findings).toMatchObject([
        { severity: 'note', code: 'CALL_NOT_RECORDED', detail: expect.stringContaining('Node "hasty"') },
      ]);
    },
  );
});
