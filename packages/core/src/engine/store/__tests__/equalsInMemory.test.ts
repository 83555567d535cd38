import { InMemoryStore, type Operation, type OperationResults } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { longer } from '../../../../test/support/longer.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { SqliteStore } from '../SqliteStore.ts';

const RUNS = howMany('DEVS_STORE_RUNS', 25);

/** LangGraph's store goes on listing a namespace whose last item was deleted; its stores on a database do not. */
class TidyMemory extends InMemoryStore {
  override async batch<Op extends readonly Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results = await super.batch(operations);
    const { data } = this as unknown as { readonly data: Map<string, Map<string, unknown>> };
    for (const [namespace, items] of data) if (items.size === 0) data.delete(namespace);
    return results;
  }
}

// Labels that sort around the separator, and prefixes of one another.
const label = fc.constantFrom('a', 'a!', 'a;', 'ab', 'b', 'ü', '*');
const namespace = fc.array(label, { minLength: 1, maxLength: 3 });
const key = fc.constantFrom('', 'k', 'K', 'k\u0000', 'ключ', 'x:y');
const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, 2.5, '1', '2', 'text', '');
const value = fc.dictionary(
  fc.constantFrom('p', 'q', 'constructor_'),
  fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })),
);
const operator = fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$other');
const operand = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));
const filter = fc.dictionary(
  fc.constantFrom('p', 'q', 'missing'),
  fc.oneof(scalar, fc.dictionary(operator, operand, { maxKeys: 2 })),
  { maxKeys: 2 },
);
const count = fc.integer({ min: 0, max: 6 });
const path = fc.array(fc.oneof(label, fc.constant('*')), { maxLength: 2 });

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ namespace, key, value }) },
  { weight: 2, arbitrary: fc.record({ namespace, key, value: fc.constant(null) }) },
  { weight: 2, arbitrary: fc.record({ namespace, key }) },
  {
    weight: 3,
    arbitrary: fc.record(
      { namespacePrefix: fc.array(label, { maxLength: 2 }), filter, limit: count, offset: count },
      { requiredKeys: ['namespacePrefix'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        matchConditions: fc.array(fc.record({ matchType: fc.constantFrom('prefix', 'suffix'), path }), {
          maxLength: 2,
        }),
        maxDepth: fc.integer({ min: 1, max: 3 }),
        limit: count,
        offset: count,
      },
      { requiredKeys: ['matchConditions', 'limit', 'offset'] },
    ),
  },
);

/** Without times, which no two stores share. */
const told = (results: readonly unknown[]): unknown =>
  JSON.parse(
    JSON.stringify(results, (name, part: unknown) =>
      /^(?:created|updated)At$/.test(name) ? undefined : part,
    ),
  );

/** What is empty within a batch keeps its place in memory: a deletion is the only write of its batch. */
const deletesAlone = (batch: readonly object[]): boolean => {
  const written = batch.flatMap((each) => ('value' in each ? [each.value] : []));
  return written.length < 2 || !written.includes(null);
};

describe('the store in a state file', () => {
  test('answers every batch of operations as LangGraph’s store in memory, in its order', {
    timeout: longer(60_000, RUNS / 150),
  }, async ({ db }) => {
    const batch = fc.array(operation, { minLength: 1, maxLength: 5 }).filter(deletesAlone);
    const batches = fc.array(batch, { maxLength: 15 });
    const property = fc.asyncProperty(batches, async (all) => {
      db.exec('DELETE FROM store_items; DELETE FROM store_counts');
      const [own, memory] = [new SqliteStore(db), new TidyMemory()];
      for (const batch of all) {
        // What is put must not be shared: the store in memory keeps the object itself.
        const results = await Promise.all([
          own.batch(structuredClone(batch)),
          memory.batch(structuredClone(batch)),
        ]);
        expect(told(results[0])).toEqual(told(results[1]));
      }
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  test('answers its methods as LangGraph’s store in memory', async () => {
    const stores = [new SqliteStore(createDatabase({ dbPath: ':memory:' })), new InMemoryStore()];
    const [own, memory] = await Promise.all(
      stores.map(async (store) => {
        await store.put(['users', 'ada'], 'name', { text: 'Ada', age: 36 });
        await store.put(['users', 'bob'], 'name', { text: 'Bob', age: 17 });
        await store.put(['users', 'ada'], 'name', { text: 'Ada L.', age: 36 });
        await store.put(['other'], 'gone', { text: 'x' });
        await store.delete(['other'], 'gone');
        return told([
          await store.get(['users', 'ada'], 'name'),
          await store.get(['users', 'ada'], 'none'),
          await store.search(['users'], { filter: { age: { $gte: 18 } } }),
          await store.search([]),
          await store.listNamespaces({ prefix: ['users'], maxDepth: 1 }),
          await store.listNamespaces({ suffix: ['bob'] }),
        ]);
      }),
    );
    expect(own).toEqual(memory);
  });
});
