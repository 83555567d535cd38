import { setTimeout as sleep } from 'node:timers/promises';
import { type Gate, Orchestrator, type Run, type Runs } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../../postgres/test/support/startCluster.ts';
import { createUi } from '../src/createUi.ts';
import type { GateView } from '../src/views/gateView.ts';
import type { InboxView } from '../src/views/inboxView.ts';
import type { RunView } from '../src/views/runView.ts';
import { ADA } from './support/fixtures.ts';

let cluster: Cluster;
let worker: Orchestrator;
let runs: Runs;

beforeAll(async () => {
  cluster = await startCluster();
  const parts = {
    agents: fakeAgents({ tasks: 2 }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  };
  worker = await Orchestrator.open({ runs: cluster.runs(), ...parts });
  runs = cluster.runs();
});
afterAll(async () => {
  worker.close();
  await cluster.stop();
});

/** A graph that hangs in its only node until it is aborted. */
const HELD = new StateGraph(Annotation.Root({ said: Annotation<string> }))
  .addNode('work', async (_state, { signal }) => sleep(60_000, {}, { signal }))
  .addEdge(START, 'work')
  .addEdge('work', END);

const HOST = 'inbox.example.org';
const headers = {
  origin: `https://${HOST}`,
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/json',
};

function mounted() {
  const ui = createUi({ runs, hosts: [HOST], identify: () => ADA });
  const ask = (path: string, init: RequestInit = {}) =>
    ui(new Request(`https://${HOST}${path}`, { headers, ...init }));
  return {
    ask,
    read: async <T>(path: string) => (await (await ask(path)).json()) as T,
    post: async (path: string, body: unknown) =>
      (await ask(path, { method: 'POST', body: JSON.stringify(body) })).json(),
  };
}

async function waitingRun(id: string): Promise<Run> {
  const run = await worker.start({ id, brief: `# ${id}\n\nSell things.\n` });
  await run.resume();
  return run;
}

describe('the page over a cluster', () => {
  test('lists what waits and what there is, and opens no file for it', async () => {
    for (const id of ['one', 'two']) await waitingRun(id);
    const one = await worker.run('one');
    const asked = (await one.gates())[0] as Gate;
    const [place] = await one.quotableSections(asked);
    const quote = place?.texts[0].split('\n')[0] ?? '';
    const comments = [{ in: place?.names[0] ?? '', quote, text: 'Why?' }];
    await one.decide(asked, { approved: false, comments, by: ADA });
    await one.resume();
    const opened = vi.spyOn(runs, 'open');
    const { read } = mounted();
    const { gates, runs: lines, total, stopped } = await read<InboxView>('/api/inbox');
    expect(gates).toMatchObject([
      { threadId: 'two', title: 'two', about: 'Design', asks: 'Is this the design?' },
      { threadId: 'one' },
    ]);
    const [, again] = gates;
    expect(again?.facts[0]).toEqual({ text: '0 of 1 comment answered', tone: 'warning' });
    expect([total, stopped]).toEqual([2, []]);
    expect(lines).toMatchObject([
      { id: 'two', status: 'waiting', openGates: 1 },
      { id: 'one', status: 'waiting', openGates: 1 },
    ]);
    expect(again?.cost).toEqual((await (await worker.run('one')).status()).cost);
    expect(await read('/api/waiting')).toEqual({ total: 2, running: 0 });
    expect(await read('/api/runs?after=two')).toMatchObject({ runs: [{ id: 'one' }], nextRuns: null });
    expect(opened).not.toHaveBeenCalled();
  });

  test('shows a run and a gate from one copy each, and records a decision that the worker takes up', async () => {
    const run = await waitingRun('shop');
    const opened = vi.spyOn(runs, 'open');
    const { read, post } = mounted();
    const [gate] = await run.gates();
    const path = `/api/runs/shop/gates/${gate?.sessionId}`;
    const shown = await read<GateView>(path);
    expect(shown).toMatchObject({
      isOpen: true,
      choices: [{ name: 'approve' }, { name: 'reject' }, { name: 'edit' }],
    });
    expect(opened).toHaveBeenCalledOnce();
    const { gates: _, ...status } = await run.status();
    opened.mockClear();
    expect(await read('/api/runs/shop')).toMatchObject(JSON.parse(JSON.stringify(status)));
    for (const part of ['timeline', 'log', 'graph', 'checkpoints'])
      expect(await read(`/api/runs/shop/${part}`), part).not.toHaveProperty('error');
    expect(opened).toHaveBeenCalledTimes(5);

    const decision = (artifactHash: string | undefined) => ({ artifactHash, answer: { approved: true } });
    expect(await post(`${path}/decision`, decision('0'.repeat(64)))).toMatchObject({
      error: { code: 'GATE_STALE', remedy: expect.any(String) },
    });
    expect(await post(`${path}/decision`, decision(gate?.artifactHash))).toEqual({ status: 'decided' });
    expect(await post(`${path}/decision`, decision(gate?.artifactHash))).toMatchObject({
      error: { code: 'GATE_ALREADY_DECIDED', message: expect.stringContaining('ada') },
    });
    expect((await run.resume()).gates).toMatchObject([{ kind: 'dag_approval' }]);
    const past = await read<{ past: unknown }>('/api/runs/shop');
    expect(past.past).toMatchObject([{ said: 'approved', principal: 'human:ada' }]);
  });

  test('stops a run in the hands of another process, under a name, and tells what was first', async () => {
    const app = durable(HELD, { runs: cluster.runs(), graph: 'held' });
    const driving = app.run('busy', { said: '' });
    const { read, post } = mounted();
    while ((await read<Partial<RunView>>('/api/runs/busy')).running == null) await sleep(20);
    expect(await read('/api/runs/busy')).toMatchObject({ stops: ['pause', 'abort', 'cancel'] });
    expect(await post('/api/runs/busy/stop', { stop: 'abort' })).toMatchObject({
      stopping: { stop: 'abort', principal: 'human:ada' },
    });
    expect(await driving).toMatchObject({ status: 'paused' });
    expect(await post('/api/runs/busy/stop', { stop: 'abort' })).toMatchObject({
      error: { code: 'STOP_REFUSED', remedy: expect.any(String) },
    });
    expect(await post('/api/runs/busy/stop', { stop: 'cancel' })).toMatchObject({ status: 'cancelled' });
    expect(await app.run('busy')).toMatchObject({ status: 'cancelled' });
    expect(await post('/api/runs/busy/stop', { stop: 'cancel' })).toMatchObject({
      error: { code: 'STOP_REFUSED', message: expect.stringContaining('already cancelled') },
    });
    const stops = (await (await worker.run('busy')).log()).filter(({ name }) => name === 'STOP_REQUESTED');
    expect(stops.map(({ payload }) => payload)).toEqual([
      { stop: 'abort', principal: 'human:ada' },
      { stop: 'cancel', principal: 'human:ada' },
    ]);
  });

  test('is told of what happens elsewhere', async () => {
    const { ask } = mounted();
    const stream = (await ask('/api/changes')).body?.getReader();
    const next = async (): Promise<void> => {
      for (;;) {
        const { value } = (await stream?.read()) ?? {};
        if (new TextDecoder().decode(value).includes('data')) return;
      }
    };
    await next();
    await waitingRun('news');
    await next();
    await stream?.cancel();
  });

  test('names a run that there is not, and a cluster that cannot be reached', async () => {
    const { read } = mounted();
    expect(await read('/api/runs/nobody')).toMatchObject({ error: { code: 'THREAD_NOT_FOUND' } });
    const away = cluster.runs({ url: 'postgres://devs@127.0.0.1:1/none', awayMs: 0 });
    const ui = createUi({ runs: away, hosts: [HOST], identify: () => ADA });
    const answer = await ui(new Request(`https://${HOST}/api/inbox`, { headers }));
    expect(await answer.json()).toMatchObject({ error: { code: 'STATE_IO', remedy: expect.any(String) } });
    expect(() => createUi({ hosts: [HOST], identify: () => ADA })).toThrow(TypeError);
  });
});
