import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { EventBus } from '../../../events/events.ts';
import { ThreadStore } from '../../../state/threads/ThreadStore.ts';
import { MemoryRuns } from '../../../testing/MemoryRuns.ts';
import { durable } from '../../app/durable.ts';
import { EngineStore } from '../../gates/EngineStore.ts';
import type { Gate } from '../../gates/Gate.ts';
import { step } from '../../node/step.ts';
import { waitFor } from '../../node/waitFor.ts';
import { applySignals } from '../LeasedApp.ts';

const ADA = { kind: 'human', id: 'ada' } as const;

const Mail = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

const asking = () =>
  new StateGraph(Mail)
    .addNode('draft', async () => ({ log: [await step('draft', () => 'drafted')] }))
    .addNode('ask', () => ({ log: [`asked: ${String(interrupt('Send?'))}`] }))
    .addEdge(START, 'draft')
    .addEdge('draft', 'ask')
    .addEdge('ask', END);

const driven = () => ({ drain: new AbortController().signal, signal: new AbortController().signal });

describe('an app whose runs have a file each', () => {
  test('a run is started, driven elsewhere, decided and driven to its end', async () => {
    const runs = new MemoryRuns();
    const app = durable(asking(), { runs, graph: 'mail' });
    const worker = durable(asking(), { runs, graph: 'mail' });
    await app.start('mail-1', { log: [] }, { tenant: 'acme' });
    await app.start('mail-1', { log: [] });
    const drive = async () => {
      const held = await runs.hold('mail-1');
      const end = await worker.drive(held, driven());
      expect(await held.settle(end)).toBe('settled');
      await held.close();
      return end;
    };
    expect(await drive()).toMatchObject({ status: 'waiting', until: null, queue: app.queue });
    const [gate] = (await app.openGates()).gates;
    expect(await app.gates('mail-1')).toEqual([gate]);
    const decided = await app.decide(gate as Gate, { value: 'yes', by: ADA });
    expect(decided).toMatchObject({ status: 'decided', principal: ADA });
    expect((await app.openGates()).gates).toEqual([]);
    expect(await app.gates('mail-1')).toEqual([]);
    expect(await drive()).toMatchObject({ status: 'completed', gates: [] });
    expect(await app.result('mail-1', { wait: true })).toMatchObject({
      status: 'completed',
      values: { log: ['drafted', 'asked: yes'] },
    });
  });

  test('a known run is refused for what it was not given, and not for what a new one would be', async () => {
    const tenants = new StateGraph(Mail, z.object({ tenant: z.string() }))
      .addNode('work', () => ({ log: ['worked'] }))
      .addEdge(START, 'work');
    const app = durable(tenants, { runs: new MemoryRuns(), graph: 'mail' });
    const wrong = { context: { tenant: 5 } };
    await expect(app.start('mail-1', { log: [] }, wrong)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await app.start('mail-1', { log: [] }, { context: { tenant: 'acme' } });
    await expect(app.start('mail-1', { log: [] }, wrong)).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
  });

  test('a signal starts a run that is not there, once, with the file that has both', async () => {
    const runs = new MemoryRuns();
    const graph = () =>
      new StateGraph(Mail)
        .addNode('wait', async () => ({ log: [await waitFor<string>('go')] }))
        .addEdge(START, 'wait')
        .addEdge('wait', END);
    const app = durable(graph(), { runs, name: 'mail' });
    const start = { input: { log: ['begun'] }, tenant: 'acme' };
    const send = (signalId: string) => app.signal('mail-1', 'go', signalId, { by: ADA, signalId, start });
    const sent = await Promise.all([send('a'), send('a'), send('b')]);
    expect(sent.filter(({ isNew }) => isNew)).toHaveLength(2);
    expect(await send('a')).toEqual({ isNew: false });
    const { status, values } = await app.run('mail-1');
    expect(status).toBe('completed');
    expect(values?.log).toHaveLength(2);
    await expect(send('c')).rejects.toMatchObject({ code: 'SIGNAL_NOT_TAKEN' });
    const wrong = { by: ADA, signalId: '1', start: { input: { log: [() => 1] as never } } };
    await expect(app.signal('mail-2', 'go', 1, wrong)).rejects.toMatchObject({ code: 'VALUE_NOT_STORABLE' });
    await expect(app.result('mail-2')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await expect(app.work()).rejects.toMatchObject({ code: 'RUN_ELSEWHERE' });
    expect(() => durable(graph(), { runs, name: 'mail', graph: 'bill' })).toThrow(TypeError);
  });

  test('run drives here, and stays until a decision', async () => {
    const runs = new MemoryRuns();
    const app = durable(asking(), { runs, graph: 'mail' });
    const run = app.run('mail-1', { log: [] }, { wait: true });
    await vi.waitUntil(async () => (await app.list({ status: 'waiting' })).runs.length === 1, {
      timeout: 60_000,
    });
    const [gate] = (await app.openGates()).gates;
    await app.decide(gate as Gate, { value: 'yes', by: ADA });
    expect(await run).toMatchObject({ status: 'completed', values: { log: ['drafted', 'asked: yes'] } });
    const names = [];
    for await (const { name } of app.follow('mail-1')) names.push(name);
    expect(names.filter((name) => name.startsWith('RUN_'))).toEqual(['RUN_SUSPENDED', 'RUN_FINISHED']);
  });

  test('what is told while nobody drives is taken by the next driver: a pause stops it, a cancel ends it', async () => {
    const runs = new MemoryRuns();
    const app = durable(asking(), { runs, graph: 'mail' });
    const drive = async (id: string) => {
      const held = await runs.hold(id);
      const end = await app.drive(held, driven());
      await held.settle(end);
      await held.close();
      return end;
    };
    await app.start('paused', { log: [] });
    await app.pause('paused');
    expect(await drive('paused')).toMatchObject({ status: 'paused', until: null });
    expect(await app.values('paused')).toBeNull();
    await app.start('paused');
    expect(await drive('paused')).toMatchObject({ status: 'waiting' });
    await app.start('cancelled', { log: [] });
    await app.cancel('cancelled');
    expect(await app.result('cancelled')).toMatchObject({ status: 'cancelled' });
    expect(await drive('cancelled')).toMatchObject({ status: 'cancelled', until: null });
  });

  test('a decision that does not fit any more is passed over once, and the run goes on', async () => {
    const runs = new MemoryRuns();
    const app = durable(asking(), { runs, graph: 'mail' });
    await app.run('mail-1', { log: [] });
    const [gate] = await app.gates('mail-1');
    await app.decide(gate as Gate, { value: 'yes', by: ADA });
    const held = await runs.hold('mail-1');
    new ThreadStore(held.db).signal('mail-1', { id: 'faster', kind: 'cancel', payload: null });
    expect(await app.drive(held, driven())).toMatchObject({ status: 'cancelled' });
    const late = { ...(gate as Gate), id: 'late', kind: 'decision', closes: true } as const;
    const store = new EngineStore(held.db, { events: new EventBus() });
    const bob = { value: 'no', by: { kind: 'human', id: 'bob' } } as const;
    for (const _ of [1, 2]) await applySignals('mail-1', [{ ...late, answer: bob }], { store });
    const passed = store.log.listNamed('mail-1', 'SIGNAL_PASSED_OVER');
    expect(passed.map(({ payload }) => [payload.id, payload.kind])).toEqual([['late', 'decision']]);
    await held.close();
  });

  test('needs a name for its queues, and no store in a file that one run has', () => {
    const runs = new MemoryRuns();
    for (const graph of [undefined, '', 'a b', 'x'.repeat(41)])
      expect(() => durable(asking(), { runs, ...(graph !== undefined && { graph }) })).toThrow(TypeError);
    expect(durable(asking().compile({ name: 'mail' }), { runs }).queue.graph).toBe('mail');
    expect(() => durable(asking(), { runs, graph: 'mail', store: 'file' })).toThrow(TypeError);
    expect(() => durable(asking(), { runs, graph: 'mail', file: 'x.sqlite' })).toThrow(TypeError);
  });
});
