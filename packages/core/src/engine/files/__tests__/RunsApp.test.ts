import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, test, vi } from 'vitest';
import { MemoryRuns } from '../../../testing/MemoryRuns.ts';
import { durable } from '../../durable.ts';
import type { Gate } from '../../Gate.ts';
import { step } from '../../node/step.ts';

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

const driven = () => ({ signal: new AbortController().signal, abort: new AbortController().signal });

describe('RunsApp', () => {
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
});
