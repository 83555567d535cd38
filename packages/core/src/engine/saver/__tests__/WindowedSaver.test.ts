import { Annotation, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { SqliteSaver } from '../SqliteSaver.ts';
import { WindowedSaver } from '../WindowedSaver.ts';

const State = Annotation.Root({ count: Annotation<number>(), items: Annotation<string[]>() });
const CONFIG = { configurable: { thread_id: 't' }, recursionLimit: 200 };

function counter(checkpointer: BaseCheckpointSaver, steps: number) {
  return new StateGraph(State)
    .addNode('add', ({ count }) => ({ count: count + 1, items: ['x'.repeat(count)] }))
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ count }) => (count < steps ? 'add' : '__end__'))
    .compile({ checkpointer });
}

async function historyOf(saver: BaseCheckpointSaver): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: 't' } })) tuples.unshift(tuple);
  return tuples;
}

describe('WindowedSaver', () => {
  test.each([{ size: 0 }, { size: Number.NaN }, { pruneAbove: -1 }, { pruneAbove: 1.5 }])(
    'refuses %j when it is made, not at the first checkpoint',
    (options) => {
      expect(() => new WindowedSaver(new MemorySaver(), options)).toThrow(RangeError);
    },
  );

  test('keeps all of a short run and the first and last five of a longer one', async ({ db }) => {
    const inner = new SqliteSaver(db);
    for (const [steps, kept] of [
      [13, 15],
      [14, 6],
      [40, 6],
    ] as const) {
      await inner.deleteThread('t');
      const saver = new WindowedSaver(inner);
      await counter(saver, steps).invoke({ count: 0 }, CONFIG);
      const ids = (await historyOf(inner)).map(({ checkpoint }) => checkpoint.id);
      expect(ids).toHaveLength(steps + 2);
      expect(saver.retained('t')).toEqual(kept === 6 ? [ids[0], ...ids.slice(-5)] : ids);
    }
  });

  test('returns the same as the inner saver for every checkpoint, in memory or not, however often', async ({
    db,
  }) => {
    const inner = new SqliteSaver(db);
    const saver = new WindowedSaver(inner);
    await counter(saver, 20).invoke({ count: 0 }, CONFIG);
    for (const { config } of await historyOf(inner)) {
      const expected = await inner.getTuple(config);
      expect(await saver.getTuple(config)).toEqual(expected);
      expect(await saver.getTuple(config)).toEqual(expected);
    }
    expect(await saver.getTuple(CONFIG)).toEqual(await inner.getTuple(CONFIG));
    expect(await saver.getTuple({ configurable: { thread_id: 'other' } })).toBeUndefined();
  });

  test('what a caller does to a tuple does not reach the next one', async ({ db }) => {
    const saver = new WindowedSaver(new SqliteSaver(db));
    await counter(saver, 3).invoke({ count: 0 }, CONFIG);
    const latest = await saver.getTuple(CONFIG);
    const config = latest?.config ?? {};
    for (let read = 0; read < 3; read += 1) {
      const tuple = await saver.getTuple(config);
      expect(tuple).toEqual(latest);
      const items = tuple?.checkpoint.channel_values['items'] ?? [];
      (items as string[]).push('forged');
    }
  });

  test('sees writes that arrive for a checkpoint after it was read', async ({ db }) => {
    const saver = new WindowedSaver(new SqliteSaver(db));
    await counter(saver, 3).invoke({ count: 0 }, CONFIG);
    const config = (await saver.getTuple(CONFIG))?.config ?? {};
    await saver.getTuple(config);
    await saver.putWrites(config, [['count', 7]], 'task');
    expect((await saver.getTuple(config))?.pendingWrites).toContainEqual(['task', 'count', 7]);
  });

  test('a failed put keeps nothing in memory', async ({ db }) => {
    const inner = new SqliteSaver(db);
    const saver = new WindowedSaver(inner);
    await counter(saver, 3).invoke({ count: 0 }, CONFIG);
    const before = saver.retained('t');
    const { checkpoint, metadata = { source: 'loop', step: 9, parents: {} } } =
      (await saver.getTuple(CONFIG)) ?? {};
    const broken = { ...checkpoint, id: 'x', channel_values: null } as never;
    await expect(saver.put({ configurable: {} }, broken, metadata, {})).rejects.toThrow();
    expect(saver.retained('t')).toEqual(before);
  });

  test('in front of a MemorySaver nothing leaves memory', async () => {
    const saver = new WindowedSaver(new MemorySaver());
    await counter(saver, 30).invoke({ count: 0 }, CONFIG);
    expect(saver.retained('t')).toHaveLength(32);
  });

  test('a deleted thread is gone from memory too', async ({ db }) => {
    const saver = new WindowedSaver(new SqliteSaver(db));
    await counter(saver, 3).invoke({ count: 0 }, CONFIG);
    await saver.deleteThread('t');
    expect(saver.retained('t')).toEqual([]);
    expect(await saver.getTuple(CONFIG)).toBeUndefined();
  });

  test('a new driver goes on with a run it did not begin', async ({ db }) => {
    const inner = new SqliteSaver(db);
    await counter(new WindowedSaver(inner), 3).invoke({ count: 0 }, CONFIG);
    const saver = new WindowedSaver(inner);
    const { count } = await counter(saver, 40).invoke({ count: 3 }, CONFIG);
    expect(count).toBe(40);
    expect(saver.retained('t')).toHaveLength(6);
  });
});
