import {
  getStore,
  InMemoryStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { BaseStore, InMemoryCache } from '@langchain/langgraph-checkpoint';
import { describe, expect, expectTypeOf } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { OwnState, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { SqliteStore } from '../SqliteStore.ts';

const NS = ['users', 'ada'];

/** A node that puts, and a subgraph whose node gets it by `getStore()`. */
function remembering() {
  const inner = new StateGraph(OwnState)
    .addNode('recall', async () => ({ log: [String((await getStore()?.get(NS, 'name'))?.value['text'])] }))
    .addEdge(START, 'recall');
  return new StateGraph(OwnState)
    .addNode('remember', async (_, { store }: LangGraphRunnableConfig) => {
      await store?.put(NS, 'name', { text: 'Ada' });
      return {};
    })
    .addNode('inner', inner.compile())
    .addEdge(START, 'remember')
    .addEdge('remember', 'inner');
}

describe('the store of a graph', () => {
  test('in the state file is had by nodes, subgraphs, other runs and from outside', async ({
    db,
    dbPath,
  }) => {
    const app = durable(remembering(), { db, store: 'file' });
    expect((await app.run('run', { log: [] })).values?.log).toEqual(['Ada']);
    expect((await app.memory.search(['users'])).map(({ value }) => value)).toEqual([{ text: 'Ada' }]);
    const other = durable(twoSteps(), { file: dbPath, store: 'file' });
    expect((await other.memory.get(NS, 'name'))?.value).toEqual({ text: 'Ada' });
    other.close();
  });

  test('is the one it is given, else the one it was compiled with', async ({ db }) => {
    const [given, compiledWith] = [new InMemoryStore(), new InMemoryStore()];
    const compiled = remembering().compile({ store: compiledWith });
    for (const [id, options, expected] of [
      ['a', { store: given }, given],
      ['b', {}, compiledWith],
    ] as const) {
      const app = durable(compiled, { db, ...options });
      expect((await app.run(id, { log: [] })).values?.log).toEqual(['Ada']);
      expect(app.memory).toBe(expected);
    }
  });

  test('outlives the run that wrote it', async ({ db }) => {
    const app = durable(remembering(), { db, store: 'file' });
    await app.run('run', { log: [] });
    await internalsOf(app).withLease('run', async (lease) => internalsOf(app).store.remover.remove(lease));
    expect(internalsOf(app).store.threads.get('run')).toBeNull();
    expect(await app.memory.get(NS, 'name')).not.toBeNull();
  });

  test('takes no more from a driver that was replaced', async ({ db }) => {
    const builder = new StateGraph(OwnState)
      .addNode('late', async (_, { store }: LangGraphRunnableConfig) => {
        db.prepare('UPDATE threads SET lease_epoch = lease_epoch + 1').run();
        await store?.put(NS, 'k', {});
        return {};
      })
      .addEdge(START, 'late');
    const app = durable(builder, { db, store: 'file' });
    await expect(app.run('run', { log: [] })).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await app.memory.search([])).toEqual([]);
  });

  test('refuses a value before it is written, and the run can be driven again by other code', async ({
    db,
  }) => {
    let value: object = { f: () => 1 };
    const builder = new StateGraph(OwnState)
      .addNode('put', async (_, { store }: LangGraphRunnableConfig) => {
        await store?.put(NS, 'k', value);
        return { log: ['put'] };
      })
      .addEdge(START, 'put');
    const app = durable(builder, { db, store: 'file' });
    expect(await app.run('run', { log: [] }, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      error: { code: 'VALUE_NOT_STORABLE' },
    });
    expect(await app.memory.search([])).toEqual([]);
    value = {};
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['put'] } });
  });

  test('is none by default: nodes have none, and a look from outside says how to have one', async ({
    db,
  }) => {
    const builder = new StateGraph(OwnState)
      .addNode('look', (_, { store }: LangGraphRunnableConfig) => ({ log: [String(store)] }))
      .addEdge(START, 'look');
    const app = durable(builder, { db });
    expect((await app.run('run', { log: [] })).values?.log).toEqual(['undefined']);
    await expect(app.memory.get(NS, 'k')).rejects.toThrow("store: 'file'");
  });

  test.for([
    ['a path', './memory.sqlite'],
    ['an object', {}],
    ['null', null],
  ] as const)('is not %s', ([, store], { db }) => {
    expect(() => durable(twoSteps(), { db, store: store as never })).toThrow(TypeError);
  });

  test('and its cache have the types that compile takes', ({ db }) => {
    const app = durable(twoSteps(), { db, store: new SqliteStore(db), cache: new InMemoryCache() });
    expectTypeOf(app.memory).toEqualTypeOf<BaseStore>();
    expect(app.memory).toBeInstanceOf(BaseStore);
    // @ts-expect-error: the path of another file is no store
    expect(() => durable(twoSteps(), { db, store: 'memory.sqlite' })).toThrow(TypeError);
    // @ts-expect-error: a store is no cache
    expect(() => durable(twoSteps(), { db, cache: 'file' })).toThrow(TypeError);
  });
});
