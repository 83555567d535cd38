import { setTimeout as sleep } from 'node:timers/promises';
import { Orchestrator, type PipelineRunInfo } from '@devs/core';
import { durable, step } from '@devs/core/langgraph';
import { Annotation, StateGraph } from '@langchain/langgraph';
import { describe, expect, onTestFinished } from 'vitest';
import type { UiOptions } from '../src/createUi.ts';
import type { RunView } from '../src/views/runView.ts';
import { type Stop, type StoppableRun, stopRun } from '../src/views/stopView.ts';
import { ADA, mounted, test, waitingRun } from './support/fixtures.ts';

const EVE = { kind: 'human', id: 'eve' } as const;

/** A run of an own graph that is in a call, until it is let go or aborted; then it waits at a gate. */
async function workingRun(dir: string) {
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const calls: string[] = [];
  const call = async ({ signal, attempt }: { signal: AbortSignal; attempt: number }): Promise<string> => {
    calls.push('begun');
    signal.addEventListener('abort', () => calls.push('aborted'));
    if (attempt === 1) await Promise.race([held, sleep(60_000, undefined, { signal })]);
    return 'done';
  };
  const builder = new StateGraph(Annotation.Root({ said: Annotation<string> }))
    .addNode('work', async () => ({ said: await step('call', call) }))
    .addNode('publish', () => ({}))
    .addEdge('__start__', 'work')
    .addEdge('work', 'publish');
  const app = durable(builder, { file: `${dir}/posts.sqlite`, gates: { publish: ({ said }) => said } });
  onTestFinished(() => app.close());
  const driving = app.run('post', { said: '' });
  while (calls.length === 0) await sleep(2);
  return { app, driving, calls, letGo };
}

function page(dir: string, options: Partial<UiOptions> = {}) {
  const { ask, post, errorAt } = mounted(dir, { file: 'posts.sqlite', ...options });
  const at = '/inbox/api/runs/post';
  const stop = (how: unknown) => post(`${at}/stop`, { stop: how });
  const view = async (): Promise<RunView> => (await ask(at)).json() as Promise<RunView>;
  return { stop, view, errorAt, refused: (how: unknown) => errorAt(stop(how)) };
}

/** Who asked the run for what, as its log keeps it. */
async function stopsIn(dir: string): Promise<readonly unknown[]> {
  const devs = await Orchestrator.open({ dir, file: 'posts.sqlite', readOnly: true });
  onTestFinished(() => devs.close());
  const log = await (await devs.run('post')).log();
  return log.filter(({ name }) => name === 'STOP_REQUESTED').map(({ payload }) => payload);
}

describe('a run is stopped on its page', () => {
  test('at its next safe point: the call in flight ends first', async ({ dir }) => {
    const { app, driving, calls, letGo } = await workingRun(dir);
    const { stop, view, refused } = page(dir);
    expect((await view()).stops).toEqual(['pause', 'abort', 'cancel']);
    expect(await (await stop('pause')).json()).toMatchObject({
      status: 'running',
      stopping: { stop: 'pause', principal: 'human:ada' },
    });
    expect(await view()).toMatchObject({ stopping: { stop: 'pause' }, stops: ['abort', 'cancel'] });
    expect(await refused('pause')).toMatchObject({
      code: 'STOP_REFUSED',
      message: expect.stringContaining('human:ada has already asked that it is paused'),
      remedy: expect.any(String),
    });
    letGo();
    expect(await driving).toMatchObject({ status: 'paused', reason: 'pause' });
    expect(calls).toEqual(['begun']);
    expect(await view()).toMatchObject({ status: 'paused', stopping: null, stops: ['cancel'] });
    expect(await stopsIn(dir)).toEqual([{ stop: 'pause', principal: 'human:ada' }]);
    expect(await app.run('post')).toMatchObject({ status: 'waiting', values: { said: 'done' } });
  });

  test('now: the call in flight is aborted, and made again on resume', async ({ dir }) => {
    const { app, driving, calls } = await workingRun(dir);
    const { stop, view } = page(dir);
    expect((await stop('pause')).status).toBe(200);
    expect((await stop('abort')).status).toBe(200);
    expect(await driving).toMatchObject({ status: 'paused' });
    expect(calls).toEqual(['begun', 'aborted']);
    expect(await view()).toMatchObject({ status: 'paused', stopping: null });
    expect(await stopsIn(dir)).toEqual([
      { stop: 'pause', principal: 'human:ada' },
      { stop: 'abort', principal: 'human:ada' },
    ]);
    expect(await app.run('post')).toMatchObject({ status: 'waiting', values: { said: 'done' } });
  });

  test('for good, while it runs and while it waits; and says so to whoever comes later', async ({ dir }) => {
    const { driving, calls } = await workingRun(dir);
    const { stop, view, refused } = page(dir);
    expect((await stop('cancel')).status).toBe(200);
    expect(await driving).toMatchObject({ status: 'cancelled' });
    expect(calls).toEqual(['begun', 'aborted']);
    expect(await view()).toMatchObject({ status: 'cancelled', stopping: null, stops: [] });
    for (const how of ['pause', 'abort', 'cancel'])
      expect(await refused(how)).toMatchObject({
        code: 'STOP_REFUSED',
        message: expect.stringContaining('it is already cancelled'),
      });
    expect(await stopsIn(dir)).toEqual([{ stop: 'cancel', principal: 'human:ada' }]);

    const shop = await waitingRun(dir);
    const { post, errorAt } = mounted(dir);
    const stopShop = (how: Stop) => post('/inbox/api/runs/shop/stop', { stop: how });
    for (const how of ['pause', 'abort'] as const)
      expect(await errorAt(stopShop(how))).toMatchObject({
        code: 'STOP_REFUSED',
        remedy: 'To end it for good, cancel the run.',
      });
    expect(await (await stopShop('cancel')).json()).toMatchObject({ status: 'cancelled', stopping: null });
    expect(await shop.gates()).toEqual([]);
    expect(await errorAt(stopShop('cancel'))).toMatchObject({ code: 'STOP_REFUSED' });
  });

  test('by nobody who cannot decide there, and changes nothing then', async ({ dir }) => {
    const { driving, letGo } = await workingRun(dir);
    const agent = { kind: 'agent', id: 'coder' } as const;
    const strangers = [
      [{ readOnly: true }, 403, 'READ_ONLY'],
      [{ identify: () => null }, 401, 'NOT_SIGNED_IN'],
      [{ identify: () => agent }, 403, 'AGENT_MAY_NOT_DECIDE'],
      [{ hosts: ['other.example.org'] }, 403, 'HOST_REFUSED'],
    ] as const;
    for (const [options, status, code] of strangers)
      for (const how of ['pause', 'abort', 'cancel']) {
        const answer = await page(dir, options).stop(how);
        expect([code, how, answer.status, await answer.json()]).toMatchObject([
          code,
          how,
          status,
          { error: { code } },
        ]);
      }
    const { ask, post, errorAt } = mounted(dir, { file: 'posts.sqlite' });
    const path = '/inbox/api/runs/post/stop';
    const body = JSON.stringify({ stop: 'cancel' });
    const headers = {
      origin: 'https://evil.example',
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    };
    expect(await errorAt(ask(path, { method: 'POST', body, headers }))).toMatchObject({
      code: 'ORIGIN_REFUSED',
    });
    for (const wish of [{ stop: 'end' }, {}, { stop: 'cancel', by: 'human:eve' }, null])
      expect(await errorAt(post(path, wish))).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await errorAt(post('/inbox/api/runs/none/stop', { stop: 'cancel' }))).toMatchObject({
      code: 'THREAD_NOT_FOUND',
    });
    expect(await stopsIn(dir)).toEqual([]);
    letGo();
    expect(await driving).toMatchObject({ status: 'waiting' });
  });

  test('is followed where no process runs it, by whoever takes it up', async ({ dir }) => {
    const devs = await Orchestrator.open({ dir });
    onTestFinished(() => devs.close());
    const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n' });
    const { ask, post, errorAt } = mounted(dir);
    const at = '/inbox/api/runs/shop';
    expect(await (await ask(at)).json()).toMatchObject({ status: 'created', stops: ['pause', 'cancel'] });
    expect(await errorAt(post(`${at}/stop`, { stop: 'abort' }))).toMatchObject({
      message: expect.stringContaining('no process runs it'),
    });
    expect(await (await post(`${at}/stop`, { stop: 'pause' })).json()).toMatchObject({
      ...{ status: 'created', driver: null },
      stopping: { stop: 'pause' },
    });
    expect(await (await post(`${at}/stop`, { stop: 'cancel' })).json()).toMatchObject({
      status: 'cancelled',
    });
    expect((await run.status()).stopping).toBeNull();
  });
});

type StopReceipt = Awaited<ReturnType<StoppableRun['pause']>>;

/** A run that comes to stand otherwise the moment it is asked to stop. */
function turningRun(before: Partial<PipelineRunInfo>, after: Partial<PipelineRunInfo>): StoppableRun {
  let now = before;
  const turn = async (): Promise<StopReceipt> => {
    now = after;
    const { status } = after as Pick<PipelineRunInfo, 'status'>;
    return { isAccepted: !['completed', 'failed', 'cancelled', 'dead_letter'].includes(status), status };
  };
  return {
    status: async () => ({ driver: null, stopping: null, ...now }) as PipelineRunInfo,
    pause: turn,
    cancel: turn,
  };
}

describe('who comes too late', () => {
  const atWork = { status: 'running', driver: '1:2' } as const;
  const asked = (stop: Stop) => ({ stop, principal: 'human:eve', at: new Date(0).toISOString() });

  test.for([
    ['pause', { status: 'completed' }, 'it is already completed'],
    ['cancel', { status: 'completed' }, 'it is already completed'],
    ['cancel', { status: 'dead_letter' }, 'it is already a dead letter'],
    ['pause', { status: 'cancelled' }, 'it is already cancelled'],
    ['pause', { status: 'failed' }, 'it is failed, so nothing is in progress'],
    ['pause', { ...atWork, stopping: asked('cancel') }, 'human:eve has already asked that it is cancelled'],
    ['pause', { ...atWork, stopping: asked('abort') }, 'human:eve has already asked that it is stopped'],
  ] as const)('is told what was first: %s, %o', async ([stop, after, why]) => {
    const stopping = stopRun(turningRun(atWork, after), stop, EVE);
    await expect(stopping).rejects.toMatchObject({
      status: 409,
      view: { code: 'STOP_REFUSED', message: expect.stringContaining(why), remedy: expect.any(String) },
    });
  });

  test('is told that it was done where it was', async () => {
    for (const [stop, after] of [
      ['pause', { status: 'paused' }],
      ['pause', { ...atWork, stopping: asked('pause') }],
      ['abort', { status: 'waiting' }],
      ['cancel', { status: 'cancelled' }],
      ['cancel', { ...atWork, stopping: asked('cancel') }],
    ] as const)
      expect(await stopRun(turningRun(atWork, after), stop, ADA)).toMatchObject({ status: after.status });
  });
});
