import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { createDatabase } from '../../../db/createDatabase.ts';
import { immediateBarrier } from '../../../state/commits/CommitBarrier.ts';
import { StreamStore } from '../../../state/events/StreamStore.ts';
import { MemoryRuns } from '../../../testing/MemoryRuns.ts';
import { durable } from '../../app/durable.ts';
import type { Gate } from '../../gates/Gate.ts';
import { step } from '../../node/step.ts';
import type { LeasedRun } from '../../runs/Runs.ts';
import type { StreamEvent } from '../../stream/StreamEvent.ts';

const ADA = { kind: 'human', id: 'ada' } as const;

const Mail = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

const asking = (ask: () => unknown = () => interrupt('Send?')) =>
  new StateGraph(Mail)
    .addNode('draft', async (_state, { writer }) => {
      writer?.('half');
      const drafted = await step('draft', () => 'drafted');
      writer?.('whole');
      return { log: [drafted] };
    })
    .addNode('ask', () => ({ log: [`asked: ${String(ask())}`] }))
    .addEdge(START, 'draft')
    .addEdge('draft', 'ask')
    .addEdge('ask', END);

const MODES = { streamMode: ['updates', 'values', 'custom'] } as const;

const told = ({ mode, ...event }: StreamEvent<unknown, unknown>) => ({
  mode,
  ...('seq' in event && { seq: event.seq }),
  ...('data' in event && { data: event.data }),
});

async function all(events: AsyncIterable<StreamEvent<unknown, unknown>>) {
  const list = [];
  for await (const event of events) list.push(told(event));
  return list;
}

/** Runs that know up to which event of its stream a held run's file has arrived. */
class ArrivedRuns extends MemoryRuns {
  arrived = 0;
  /** Told just before the run is let go of for the first time. */
  late: (() => Promise<unknown>) | null = null;

  override async hold(id: string): Promise<LeasedRun> {
    const held = await super.hold(id);
    const stream = new StreamStore(held.db);
    const outlet = immediateBarrier(async () => {
      const seq = stream.lastSeq(id);
      await held.outlet.pending();
      await new Promise((resolve) => setTimeout(resolve, 5));
      this.arrived = seq;
    });
    const { epoch, db, isCopy, lost } = held;
    return {
      ...{ id, epoch, db, isCopy, lost, outlet },
      signals: () => held.signals(),
      onSignal: (tell) => held.onSignal(tell),
      settle: async (end) => {
        const { late } = this;
        this.late = null;
        await late?.();
        return held.settle(end);
      },
      remove: () => held.remove(),
      close: () => held.close(),
    };
  }
}

test('a run that is driven here streams what one of a file does, each once it has arrived', async () => {
  const runs = new ArrivedRuns();
  const app = durable(asking(), { runs, graph: 'mail' });
  const db = createDatabase({ dbPath: ':memory:' });
  const local = durable(asking(), { db });
  const decide = async (of: typeof app | typeof local): Promise<void> => {
    const [gate] = await of.gates('mail-1');
    await of.decide(gate as Gate, { value: 'yes', by: ADA });
  };
  for (const input of [{ log: [] }, undefined]) {
    const events = [];
    for await (const event of app.stream('mail-1', input, { ...MODES, tenant: 'acme' })) {
      expect(runs.arrived).toBeGreaterThanOrEqual('seq' in event ? event.seq : 0);
      events.push(told(event));
    }
    expect(events).toEqual(await all(local.stream('mail-1', input, MODES)));
    expect(events.at(-1)).toMatchObject({ mode: input === undefined ? 'end' : 'gate' });
    if (input !== undefined) for (const each of [app, local]) await decide(each);
  }
  expect(await app.result('mail-1')).toMatchObject({ status: 'completed' });
  const again = await all(app.stream('mail-1', undefined, { ...MODES, after: 0 }));
  expect(again).toEqual(await all(local.stream('mail-1', undefined, { ...MODES, after: 0 })));
  db.close();
});

test('what it is told while it is let go of is driven on, and streamed once', async () => {
  const runs = new ArrivedRuns();
  const app = durable(asking(), { runs, graph: 'mail' });
  runs.late = async () => {
    const [gate] = await app.gates('mail-1');
    await app.decide(gate as Gate, { value: 'yes', by: ADA });
  };
  const events = await all(app.stream('mail-1', { log: [] }, { ...MODES, after: 0 }));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, nth) => nth + 1));
  expect(events.at(-1)).toMatchObject({ mode: 'end' });
  // Nothing is streamed of the next drive, but that it has ended.
  await app.start('mail-2', { log: [] });
  await all(app.stream('mail-2'));
  runs.late = () => app.cancel('mail-2');
  expect(await all(app.stream('mail-2'))).toEqual([{ mode: 'end', seq: expect.any(Number) }]);
});

test('who leaves the loop has the run stop at its next safe point, and lets go of it', async () => {
  const runs = new MemoryRuns();
  const app = durable(
    asking(() => 'nobody'),
    { runs, graph: 'mail' },
  );
  for await (const { mode } of app.stream('mail-1', { log: [] }, MODES)) if (mode === 'custom') break;
  expect(await app.result('mail-1')).toMatchObject({ status: 'paused' });
  await (await runs.hold('mail-1')).close();
});

test('what comes of the drive comes of the loop', async () => {
  const runs = new MemoryRuns();
  const broken = (): never => {
    throw new Error('broken');
  };
  const app = durable(asking(broken), { runs, graph: 'mail' });
  const failed = all(app.stream('mail-1', { log: [] }, { throwOnFailure: true }));
  await expect(failed).rejects.toMatchObject({ code: 'RUN_FAILED' });
  expect(await app.result('mail-1')).toMatchObject({ status: 'failed' });
  await app.start('mail-2', { log: [] });
  const held = await runs.hold('mail-2');
  await expect(all(app.stream('mail-2'))).rejects.toMatchObject({ code: 'THREAD_BUSY' });
  await held.close();
  await expect(all(app.stream('mail-3', { log: [] }, { after: 7 }))).rejects.toMatchObject({
    code: 'STREAM_NOT_KEPT',
  });
});

test('what somebody else drives is read as it arrives, in any process, with and without its beginning', async () => {
  const runs = new MemoryRuns();
  const app = durable(asking(), { runs, graph: 'mail' });
  const worker = durable(asking(), { runs, graph: 'mail' });
  await expect(all(app.stream('mail-1', null))).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  await app.start('mail-1', { log: [] });
  const read = all(app.stream('mail-1', null, MODES));
  const driven = await all(worker.stream('mail-1', undefined, { ...MODES, after: 0 }));
  const [gate] = await app.gates('mail-1');
  await app.decide(gate as Gate, { value: 'yes', by: ADA });
  driven.push(...(await all(worker.stream('mail-1', undefined, MODES))));
  expect(await read).toEqual(driven);
  expect(driven.at(-1)).toMatchObject({ mode: 'end' });
  const values = { streamMode: 'values', after: driven[2]?.seq ?? 0 } as const;
  expect(await all(app.stream('mail-1', null, values))).toEqual(
    driven.slice(3).filter(({ mode }) => mode === 'values' || mode === 'gate' || mode === 'end'),
  );
  await expect(all(app.stream('mail-1', null, { after: 99 }))).rejects.toMatchObject({
    code: 'STREAM_NOT_KEPT',
    context: { why: 'ahead' },
  });
});

test('who reads stops when he wants to, and is told where nothing was recorded', async () => {
  const app = durable(asking(), { runs: new MemoryRuns(), graph: 'mail', streams: false });
  await app.run('mail-1', { log: [] });
  const stop = new AbortController();
  const read = all(app.stream('mail-1', null, { signal: stop.signal }));
  stop.abort();
  expect(await read).toEqual([]);
  await app.cancel('mail-1');
  await app.run('mail-1');
  await expect(all(app.stream('mail-1', null))).rejects.toMatchObject({
    code: 'STREAM_NOT_KEPT',
    context: { why: 'not recorded' },
  });
});
