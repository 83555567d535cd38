import { durable } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, vi } from 'vitest';
import { makeStateFile, test } from '../../../../core/test/support/fixtures.ts';
import type { ServedApp } from '../../apps/ServedApp.ts';
import { readThread } from '../../protocol/readThread.ts';
import { readRun } from '../readRun.ts';
import { isSettled } from '../standing.ts';

// How often a server asks about a run that nothing is new of, and how much.

const State = Annotation.Root({ topic: Annotation<string>(), ok: Annotation<unknown>() });
const asking = new StateGraph(State)
  .addNode('ask', () => ({ ok: interrupt({ sure: true }) }))
  .addEdge(START, 'ask')
  .addEdge('ask', END);

type Reads = 'turns' | 'get' | 'gates' | 'list';

/** An app, and how often it was asked. */
function counted(app: ServedApp): { readonly app: ServedApp; readonly asked: Record<Reads, number> } {
  const asked: Record<Reads, number> = { turns: 0, get: 0, gates: 0, list: 0 };
  const counting = new Proxy(app, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (Object.hasOwn(asked, name)) asked[name as Reads] += 1;
      return member.bind(target) as unknown;
    },
  });
  return { app: counting, asked };
}

describe('a look at a run', () => {
  test('asks about that run alone, once for each part', async ({ dbPath }) => {
    makeStateFile(dbPath);
    const own = durable(asking, { file: dbPath });
    // A list by prefix would find these as well.
    for (let each = 0; each < 60; each += 1) await own.start(`r${each}`, { topic: 'other' });
    await own.run('r', { topic: 'mine' });
    const { app, asked } = counted(own);
    expect(await isSettled(app, 'r', 'r')).toBe(true);
    expect(asked).toEqual({ turns: 1, get: 1, gates: 1, list: 0 });
    own.close();
  });

  test('finds that a run goes on which was answered, and which nobody has taken up', async ({ dbPath }) => {
    makeStateFile(dbPath);
    const app = durable(asking, { file: dbPath });
    const { gates } = await app.run('r', { topic: 'mine' });
    await app.decide(gates[0] as never, { value: 'yes', by: { kind: 'human', id: 'ada' } });
    expect(await isSettled(app, 'r', 'r')).toBe(false);
    await app.run('r');
    expect(await isSettled(app, 'r', 'r')).toBe(true);
    app.close();
  });

  test('is rarer the longer a question waits, for a page that is open', async ({
    dbPath,
    onTestFinished,
  }) => {
    makeStateFile(dbPath);
    const own = durable(asking, { file: dbPath });
    await own.run('r', { topic: 'mine' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { app, asked } = counted(own);
    const stop = new AbortController();
    const filter = { channels: new Set(['lifecycle', 'input']) };
    const told: string[] = [];
    const read = (async () => {
      for await (const group of readThread({ app, graph: 'ask', thread: 'r' }, filter, stop.signal))
        told.push(...group.map(({ method }) => method));
    })();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual(['lifecycle', 'input.requested', 'lifecycle']);
    const { get, gates, turns } = asked;
    expect(get).toBeLessThanOrEqual(30);
    // What is more than one row is read where that row has become another one.
    expect([gates, turns].every((reads) => reads <= 8)).toBe(true);
    stop.abort();
    await vi.advanceTimersByTimeAsync(2000);
    await read;
    own.close();
  });

  test('is rarer the longer a run says nothing', async ({ dbPath, onTestFinished }) => {
    makeStateFile(dbPath);
    const own = durable(asking, { file: dbPath });
    await own.start('r', { topic: 'nobody drives it' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { app, asked } = counted(own);
    const stop = new AbortController();
    const read = (async () => {
      for await (const _event of readRun(
        { app, thread: 'r', run: 'r' },
        { streamMode: [], subgraphs: false },
        stop.signal,
      ));
    })();
    await vi.advanceTimersByTimeAsync(10_000);
    // 25 ms after the beginning, then after twice as long each time, at last once in a second.
    expect(asked.turns).toBeGreaterThanOrEqual(10);
    expect(asked.turns).toBeLessThanOrEqual(15);
    stop.abort();
    await vi.advanceTimersByTimeAsync(2000);
    await read;
    own.close();
  });
});
