import { InvalidNamespaceError, type Operation } from '@langchain/langgraph-checkpoint';
import { describe, expect } from 'vitest';
import { DyingFile } from '../../../../test/support/DyingFile.ts';
import { test } from '../../../../test/support/fixtures.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { SqliteStore } from '../SqliteStore.ts';

const SECRET = `ghp_${'a1B2'.repeat(9)}`;
const NS = ['users', 'ada'];

describe('an item', () => {
  test('keeps the time it was first put and has that of its last value', async ({ db }) => {
    const times = [1_000, 2_000];
    const store = new SqliteStore(db, { now: () => times.shift() ?? Number.NaN });
    await store.put(NS, 'k', { n: 1 });
    await store.put(NS, 'k', { n: 2 });
    expect(await store.get(NS, 'k')).toEqual({
      namespace: NS,
      key: 'k',
      value: { n: 2 },
      createdAt: new Date(1_000),
      updatedAt: new Date(2_000),
    });
  });

  test('in the place of another is not made right by putting it again', async ({ db }) => {
    const store = new SqliteStore(db);
    await store.put(NS, 'first', { n: 1 });
    await store.put(NS, 'second', { n: 2 });
    db.exec('UPDATE store_items SET seq = 3 WHERE seq = 1; UPDATE store_items SET seq = 1 WHERE seq = 2');
    await expect(store.put(NS, 'first', { n: 3 })).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    await expect(store.search(NS)).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  });

  test('comes in the order of its namespace, whichever of its items were deleted', async ({ db }) => {
    const store = new SqliteStore(db);
    for (const [namespace, key] of [
      ['a', '1'],
      ['b', '1'],
      ['a', '2'],
    ] as const)
      await store.put([namespace], key, {});
    await store.delete(['a'], '1');
    expect((await store.search([])).map(({ namespace }) => namespace)).toEqual([['a'], ['b']]);
  });

  test('is another object each time: nobody changes what is stored by changing what was read', async ({
    db,
  }) => {
    const store = new SqliteStore(db);
    await store.put(NS, 'k', { list: [1] });
    const first = await store.get(NS, 'k');
    first?.value['list'].push(2);
    expect((await store.get(NS, 'k'))?.value).toEqual({ list: [1] });
  });

  test('is there in another process’s connection at once', async ({ db, dbPath }) => {
    await new SqliteStore(db).put(NS, 'k', { n: 1 });
    const other = createDatabase({ dbPath });
    expect((await new SqliteStore(other).get(NS, 'k'))?.value).toEqual({ n: 1 });
    other.close();
  });

  test('is what was put, and found under its name, whatever they look like', async ({ db }) => {
    const store = new SqliteStore(db);
    const value = { note: `with ${SECRET}`, [SECRET]: 1 };
    await store.put([...NS, SECRET], SECRET, value);
    expect((await store.get([...NS, SECRET], SECRET))?.value).toEqual(value);
    expect(await store.search(NS)).toMatchObject([{ key: SECRET, value }]);
  });

  test('that was changed in the file is refused when it is read, and found by the doctor', async ({ db }) => {
    const store = new SqliteStore(db);
    await store.put(NS, 'k', { n: 1 });
    db.prepare(`UPDATE store_items SET value_json = '{"n":2}'`).run();
    const reads = [store.get(NS, 'k'), store.search([]), store.put(NS, 'k', { n: 3 })];
    for (const read of reads) await expect(read).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    expect(doctor(db).findings).toEqual([
      expect.objectContaining({ code: 'VALUE_DAMAGED', table: 'store_items' }),
    ]);
  });
});

describe('a batch', () => {
  const puts = ['a', 'b', 'c'].map((key) => ({ namespace: NS, key, value: { key } }));

  test('is on disk as a whole or not at all, whichever of its writes a process dies at', async ({
    dbPath,
  }) => {
    for (let write = 1; ; write += 1) {
      const db = createDatabase({ dbPath });
      const file = new DyingFile(db, { write, side: 'after' });
      const survived = await new SqliteStore(db).batch(puts).catch(() => null);
      const next = createDatabase({ dbPath });
      expect(await new SqliteStore(next).search([])).toHaveLength(survived === null ? 0 : 3);
      next.close();
      if (survived === null) continue;
      expect(file.writes).toBeGreaterThanOrEqual(3);
      return db.close();
    }
  });
});

describe('what is refused', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const put = (value: unknown, more: object = {}) => [{ namespace: NS, key: 'k', value, ...more }];

  const CASES: readonly (readonly [name: string, operations: unknown, error: object])[] = [
    ['a function', put({ f: () => 1 }), { code: 'VALUE_NOT_STORABLE' }],
    ['a date', put({ at: new Date() }), { code: 'VALUE_NOT_STORABLE' }],
    ['NaN', put({ n: Number.NaN }), { code: 'VALUE_NOT_STORABLE' }],
    ['a key of the prototype', put(JSON.parse('{"__proto__": 1}')), { code: 'VALUE_NOT_STORABLE' }],
    ['a list', put([1]), { code: 'VALUE_NOT_STORABLE' }],
    ['a text', put('text'), { code: 'VALUE_NOT_STORABLE' }],
    ['undefined', put(undefined), { code: 'VALUE_NOT_STORABLE' }],
    ['a cycle', put(cyclic), { code: 'VALUE_NOT_STORABLE' }],
    ['a value that is too large', put({ text: 'x'.repeat(2_000) }), { code: 'VALUE_TOO_LARGE' }],
    ['a key that is too long', put({}, { key: 'ü'.repeat(513) }), { code: 'VALUE_TOO_LARGE' }],
    [
      'a namespace that is too long',
      put({}, { namespace: ['x'.repeat(1_025)] }),
      { code: 'VALUE_TOO_LARGE' },
    ],
    ['a lone surrogate in a key', put({}, { key: '\ud800' }), { code: 'VALUE_NOT_STORABLE' }],
    ['an index', put({}, { index: ['text'] }), { code: 'STORE_UNSUPPORTED', context: { option: 'index' } }],
    ['a query', [{ namespacePrefix: NS, query: 'like this' }], { code: 'STORE_UNSUPPORTED' }],
    ['an empty namespace', put({}, { namespace: [] }), InvalidNamespaceError],
    ['a label with a colon', [{ namespace: ['a:b'], key: 'k' }], InvalidNamespaceError],
    ['a label with a dot in a search', [{ namespacePrefix: ['a.b'] }], InvalidNamespaceError],
    ['a namespace that is a text', [{ namespace: 'users', key: 'k' }], TypeError],
    ['a key that is no text', put({}, { key: 7 }), TypeError],
    ['a limit below 0', [{ namespacePrefix: NS, limit: -1 }], RangeError],
    ['an offset that is none', [{ namespacePrefix: NS, offset: Number.NaN }], RangeError],
    ['a depth of 0', [{ maxDepth: 0, limit: 1, offset: 0 }], RangeError],
  ];

  test.for(CASES)('%s, with all of its batch', async ([, operations, error], { db }) => {
    const store = new SqliteStore(db, { limits: { valueBytes: 1_000 } });
    const good = { namespace: NS, key: 'good', value: {} };
    const refused = store.batch([good, ...(operations as Operation[])]);
    if (typeof error === 'function') await expect(refused).rejects.toThrow(error as never);
    else await expect(refused).rejects.toMatchObject(error);
    expect(await store.search([])).toEqual([]);
  });

  test('a limit of bytes that is none', ({ db }) => {
    expect(() => new SqliteStore(db, { limits: { valueBytes: 0 } })).toThrow(RangeError);
  });

  test('a root that LangGraph keeps for itself', async ({ db }) => {
    await expect(new SqliteStore(db).put(['langgraph', 'x'], 'k', {})).rejects.toThrow(InvalidNamespaceError);
  });

  test('a closed file', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    const store = new SqliteStore(db);
    db.close();
    await expect(store.get(NS, 'k')).rejects.toThrow();
  });
});

describe('a large store', () => {
  /** The plan of every statement that reads it while `work` runs. */
  async function plansOf(
    db: ReturnType<typeof createDatabase>,
    work: (store: SqliteStore) => Promise<unknown>,
  ) {
    const seen = new Set<string>();
    const prepare = db.prepare.bind(db);
    db.prepare = ((sql: string) => {
      if (sql.includes('store_items')) seen.add(sql);
      return prepare(sql);
    }) as typeof db.prepare;
    await work(new SqliteStore(db));
    db.prepare = prepare;
    return [...seen].flatMap((sql) => {
      const count = new Set(sql.match(/\?/g)).size === 0 ? 0 : (sql.match(/\?/g)?.length ?? 0);
      const named = {
        namespace: '',
        after: 0,
        count: 1,
        from: '',
        to: '',
        seq: 1,
        born: 1,
        key: '',
        json: '',
        createdAt: 0,
        updatedAt: 0,
      };
      const explain = prepare<unknown[], { readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
      const rows =
        count > 0
          ? explain.all(...Array<string>(count).fill(''))
          : explain.all(...(sql.includes('@') ? [named] : []));
      return rows.map(({ detail }) => detail);
    });
  }

  test('is never read as a whole: each statement finds its rows by an index', async ({ db }) => {
    const plans = await plansOf(db, async (store) => {
      for (const n of [1, 2]) await store.put(NS, 'k', { n });
      await store.get(NS, 'k');
      await store.search(NS);
      await store.listNamespaces();
      await store.delete(NS, 'k');
    });
    expect(plans.length).toBeGreaterThan(5);
    expect(plans.filter((plan) => /^SCAN (?!spaces|CONSTANT)/.test(plan))).toEqual([]);
  });

  test('is searched page by page, and names its namespaces without a look at their items', async ({ db }) => {
    const store = new SqliteStore(db);
    const puts = Array.from({ length: 300 }, (_, n) => ({
      namespace: ['docs', n < 290 ? 'many' : `few${n}`],
      key: `k${n}`,
      value: { n },
    }));
    await store.batch(puts);
    const last = await store.search(['docs', 'many'], { filter: { n: { $gte: 200 } }, limit: 3, offset: 87 });
    expect(last.map(({ value }) => value['n'])).toEqual([287, 288, 289]);
    expect(await store.listNamespaces({ prefix: ['docs'] })).toHaveLength(11);
    expect(await store.listNamespaces({ prefix: ['*', 'many'] })).toEqual([['docs', 'many']]);
  });
});
