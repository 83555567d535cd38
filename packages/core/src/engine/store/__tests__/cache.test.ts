import { interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { InMemoryCache } from '@langchain/langgraph-checkpoint';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { ada, type Own, OwnState } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { progress } from '../../node/nodeContext.ts';
import { step } from '../../node/step.ts';
import { waitFor } from '../../node/waitFor.ts';

const cachePolicy = { keyFunc: () => 'same' };

/** `costly`, whose result is cached, and a node after it. */
function costlyGraph(costly: (state: Own) => Promise<Partial<Own>> | Partial<Own>) {
  return new StateGraph(OwnState)
    .addNode('costly', costly, { cachePolicy })
    .addNode('after', () => ({ log: ['after'] }))
    .addEdge(START, 'costly')
    .addEdge('costly', 'after');
}

/** How often the node was run, and a node that counts. */
function counted() {
  const seen = { runs: 0 };
  const costly = () => {
    seen.runs += 1;
    return { log: [`costly ${seen.runs}`] };
  };
  return { seen, costly };
}

describe('a node with a cache policy', () => {
  test('is not run where the cache has its result, as by LangGraph alone', async ({ db }) => {
    const plain = counted();
    const graph = costlyGraph(plain.costly).compile({
      cache: new InMemoryCache(),
      checkpointer: new MemorySaver(),
    });
    const own = counted();
    const app = durable(costlyGraph(own.costly), { db, cache: new InMemoryCache() });
    for (const id of ['a', 'b']) {
      const expected = await graph.invoke({ log: ['in'] }, { configurable: { thread_id: id } });
      expect(await app.run(id, { log: ['in'] })).toMatchObject({ status: 'completed', values: expected });
    }
    expect([plain.seen, own.seen]).toEqual([{ runs: 1 }, { runs: 1 }]);
  });

  test('keeps the cache its graph was compiled with, and shares it with LangGraph alone', async ({ db }) => {
    const { seen, costly } = counted();
    const compiled = costlyGraph(costly).compile({
      cache: new InMemoryCache(),
      checkpointer: new MemorySaver(),
    });
    await compiled.invoke({ log: ['in'] }, { configurable: { thread_id: 'plain' } });
    const app = durable(compiled, { db });
    expect((await app.run('run', { log: ['in'] })).values?.log).toEqual(['in', 'costly 1', 'after']);
    expect(seen.runs).toBe(1);
  });

  test('is run without a cache', async ({ db }) => {
    const { seen, costly } = counted();
    const app = durable(costlyGraph(costly), { db });
    for (const id of ['a', 'b']) await app.run(id, { log: ['in'] });
    expect(seen.runs).toBe(2);
  });

  test('makes no step where its result is from the cache', async ({ db }) => {
    const calls: string[] = [];
    const costly = async () => ({ log: [await step('call', ({ key }) => `made ${calls.push(key)}`)] });
    const app = durable(costlyGraph(costly), { db, cache: new InMemoryCache() });
    for (const id of ['a', 'b']) {
      expect((await app.run(id, { log: [] })).values?.log).toEqual(['made 1', 'after']);
    }
    expect(calls).toEqual([expect.stringMatching(/^a\//)]);
  });

  test('with a gate is asked about in every run, and then run', async ({ db }) => {
    const { seen, costly } = counted();
    const cache = new InMemoryCache();
    await durable(costlyGraph(costly), { db, cache }).run('ungated', { log: [] });
    const app = durable(costlyGraph(costly), { db, cache, gates: { costly: () => 'go?' } });
    for (const id of ['a', 'b']) {
      const { gates } = await app.run(id, { log: [] });
      await app.decide(only(gates), { approved: true, by: ada });
      expect(await app.run(id)).toMatchObject({ status: 'completed' });
    }
    expect(seen.runs).toBe(3);
  });

  test('stops before it where it is compiled to, and is then not run', async ({ db }) => {
    const { seen, costly } = counted();
    const compiled = costlyGraph(costly).compile({ cache: new InMemoryCache(), interruptBefore: ['costly'] });
    const app = durable(compiled, { db });
    for (const id of ['a', 'b']) {
      const { gates } = await app.run(id, { log: [] });
      await app.decide(only(gates), { value: true, by: ada });
      expect((await app.run(id)).values?.log).toEqual(['costly 1', 'after']);
    }
    expect(seen.runs).toBe(1);
  });

  test('is not run after a node that was given an answer', async ({ db }) => {
    const { seen, costly } = counted();
    const builder = new StateGraph(OwnState)
      .addNode('asks', () => ({ answer: interrupt<string, string>('which?') }))
      .addNode('costly', costly, { cachePolicy })
      .addEdge(START, 'asks')
      .addEdge('asks', 'costly');
    const app = durable(builder, { db, cache: new InMemoryCache() });
    for (const id of ['a', 'b']) {
      const { gates } = await app.run(id, { log: [] });
      await app.decide(only(gates), { value: id, by: ada });
      expect((await app.run(id)).values).toEqual({ answer: id, log: ['costly 1'] });
    }
    expect(seen.runs).toBe(1);
  });

  test('does not hand what a human answered to another run', async ({ db }) => {
    const asks = () => ({ log: [interrupt<string, string>('which?')] });
    const app = durable(costlyGraph(asks), { db, cache: new InMemoryCache() });
    for (const id of ['a', 'b']) {
      const { status, gates } = await app.run(id, { log: [] });
      expect(status).toBe('waiting');
      await app.decide(only(gates), { value: `for ${id}`, by: ada });
      expect((await app.run(id)).values?.log).toEqual([`for ${id}`, 'after']);
    }
  });

  test('does not hand what one run was told to another, however early it was told', async ({ db }) => {
    const hears = async () => ({ log: [await waitFor<string>('word')] });
    const app = durable(costlyGraph(hears), { db, cache: new InMemoryCache() });
    const tell = (id: string) => app.signal(id, 'word', `for ${id}`, { by: ada, signalId: id });
    await app.run('late', { log: [] });
    await tell('late');
    expect((await app.run('late')).values?.log).toEqual(['for late', 'after']);
    await internalsOf(app).recordRun({ threadId: 'early', input: { log: [] } });
    await tell('early');
    expect((await app.run('early')).values?.log).toEqual(['for early', 'after']);
    expect(await app.run('untold', { log: [] })).toMatchObject({ status: 'waiting' });
  });

  test.for(['an answer', 'a signal'])(
    'hears %s of its own, whatever the cache got meanwhile',
    async (what, { db }) => {
      let isWaiting = true;
      const hear = async () =>
        what === 'an answer' ? interrupt<string, string>('?') : waitFor<string>('word');
      const hears = async () => ({ log: [isWaiting ? await hear() : 'unasked'] });
      const app = durable(costlyGraph(hears), { db, cache: new InMemoryCache() });
      const { gates } = await app.run('waits', { log: [] });
      isWaiting = false;
      expect((await app.run('other', { log: [] })).values?.log).toEqual(['unasked', 'after']);
      isWaiting = true;
      if (what === 'an answer') await app.decide(only(gates), { value: 'mine', by: ada });
      else await app.signal('waits', 'word', 'mine', { by: ada, signalId: '1' });
      expect((await app.run('waits')).values?.log).toEqual(['mine', 'after']);
    },
  );

  test('is entered in time for the depth guard, in a circle that is all in the cache', async ({ db }) => {
    let visits = 0;
    const builder = new StateGraph(OwnState)
      .addNode('a', () => ({ answer: visits++ }), { cachePolicy })
      .addNode('b', () => ({ answer: visits++ }), { cachePolicy })
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', 'a');
    const app = durable(builder, { db, cache: new InMemoryCache(), guards: { maxDepth: 6 } });
    const { status, gates } = await app.run('round', { log: [] });
    const { kind, artifact } = only(gates);
    expect([status, kind, visits]).toEqual(['waiting', 'recursion_limit', 2]);
    expect((artifact as { readonly depth: number }).depth).toBeLessThanOrEqual(2 * 6);
  });

  test('leaves its mark of progress with the run that made it', async ({ db }) => {
    const costly = () => {
      progress();
      return { log: ['costly'] };
    };
    const builder = costlyGraph(costly)
      .addNode('more', () => ({}))
      .addEdge('after', 'more')
      .addEdge('more', 'after');
    const app = durable(builder, { db, cache: new InMemoryCache(), guards: { maxDepth: 4 } });
    const stepsTo = async (id: string) => {
      const { gates } = await app.run(id, { log: [] });
      return (only(gates).artifact as { readonly depth: number }).depth;
    };
    expect([await stepsTo('a'), await stepsTo('b')]).toEqual([4, 4]);
    const starts = db
      .prepare<[], number>("SELECT count(*) FROM events WHERE name = 'NODE_STARTED' GROUP BY thread_id")
      .pluck();
    expect(starts.all()).toEqual([4, 2]);
  });

  test('can be dropped from the cache', async ({ db }) => {
    const { seen, costly } = counted();
    const app = durable(costlyGraph(costly), { db, cache: new InMemoryCache() });
    await app.run('a', { log: [] });
    await app.graph.clearCache();
    await app.run('b', { log: [] });
    expect(seen.runs).toBe(2);
  });
});
