import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import {
  type Checkpoint,
  type CheckpointMetadata,
  emptyCheckpoint,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { isDevsError } from '../../../errors/DevsError.ts';
import { SqliteSaver, type SqliteSaverOptions } from '../SqliteSaver.ts';

const THREAD = { configurable: { thread_id: 'run-1' } };
const METADATA: CheckpointMetadata = { source: 'loop', step: 0, parents: {} };

function aCheckpoint(values: Record<string, unknown>, version = 1): Checkpoint {
  const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, version]));
  return { ...emptyCheckpoint(), id: uuid6(0), channel_values: values, channel_versions: versions };
}

async function refusalOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isDevsError(error)) return { code: error.code, message: error.message };
  throw new Error(`not refused: ${String(error)}`);
}

const rowsIn = (db: Database): unknown =>
  ['checkpoints', 'checkpoint_writes', 'checkpoint_blobs', 'state_blobs'].map((table) =>
    db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  );

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  value: Annotation<unknown>,
});

describe('a value that cannot be stored', () => {
  const wrong: { value: unknown } = { value: null };

  function aGraph(saver: SqliteSaver) {
    return new StateGraph(State)
      .addNode('first', () => ({ log: ['first'] }))
      .addNode('second', () => ({ log: ['second'], value: wrong.value }))
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .addEdge('second', END)
      .compile({ checkpointer: saver });
  }

  test.for<[string, unknown, string]>([
    ['NaN', { a: [Number.NaN] }, 'VALUE_NOT_STORABLE'],
    ['a bigint', 1n, 'VALUE_NOT_STORABLE'],
    ['a function', { f: () => 1 }, 'VALUE_NOT_STORABLE'],
    ['a polluting key', JSON.parse('{"__proto__":{"approved":true}}'), 'VALUE_NOT_STORABLE'],
    ['a toJSON that throws', { toJSON: () => JSON.parse('{') }, 'VALUE_NOT_STORABLE'],
    ['too many bytes', 'x'.repeat(8 * 1024 * 1024), 'VALUE_TOO_LARGE'],
  ])(
    '%s fails the run, which is readable and goes on with a value that can',
    async ([, value, code], { db }) => {
      const graph = aGraph(new SqliteSaver(db));
      wrong.value = value;
      const config = { ...THREAD, durability: 'sync' as const };
      const refusal = await refusalOf(graph.invoke({ value: 'start' }, config));
      expect(refusal.code).toBe(code);
      expect(refusal.message).toContain('channel "value"'.replace('c', 'C'));
      const state = await graph.getState(THREAD);
      expect(state.values).toEqual({ log: ['first'], value: 'start' });
      expect(state.next).toEqual(['second']);
      wrong.value = 'fine';
      expect(await graph.invoke(null, config)).toEqual({ log: ['first', 'second'], value: 'fine' });
    },
  );

  test('in the question of a gate, in metadata and in a write, it is named', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const asking = new StateGraph(State)
      .addNode('ask', () => ({ log: [String(interrupt({ f: () => 1 }))] }))
      .addEdge(START, 'ask')
      .compile({ checkpointer: saver });
    expect(
      (await refusalOf(asking.invoke({ value: 1 }, { ...THREAD, durability: 'sync' }))).message,
    ).toContain('Channel "__interrupt__"');
    const before = rowsIn(db);
    const metadata = { ...METADATA, note: Number.NaN } as CheckpointMetadata;
    expect((await refusalOf(saver.put(THREAD, aCheckpoint({}), metadata, {}))).message).toContain(
      'The metadata',
    );
    const config = (await saver.getTuple(THREAD))?.config ?? {};
    expect(
      (
        await refusalOf(
          saver.putWrites(
            config,
            [
              ['a', 1],
              ['b', 1n],
            ],
            't',
          ),
        )
      ).message,
    ).toContain('Channel "b"');
    expect(rowsIn(db)).toEqual(before);
  });
});

describe('limits', () => {
  const refused = async (
    options: SqliteSaverOptions,
    db: Database,
    values: Record<string, unknown>,
  ): Promise<unknown> => {
    const put = new SqliteSaver(db, options).put(
      THREAD,
      aCheckpoint(values),
      METADATA,
      Object.fromEntries(Object.keys(values).map((channel) => [channel, 1])),
    );
    return await put.then(
      () => null,
      (error: unknown) => (isDevsError(error) ? error.code : error),
    );
  };

  test('of a channel are counted in bytes as stored', async ({ db }) => {
    const limits = { channelBytes: 2000 };
    // Two quotation marks belong to the text as stored.
    expect(await refused({ limits }, db, { a: 'x'.repeat(1999) })).toBe('VALUE_TOO_LARGE');
    expect(await refused({ limits }, db, { a: 'é'.repeat(1000) })).toBe('VALUE_TOO_LARGE');
    expect(await refused({ limits }, db, { a: 'x'.repeat(1998) })).toBe(null);
  });

  test('of a checkpoint count values that did not change too, and refuse before anything is stored', async ({
    db,
  }) => {
    const saver = new SqliteSaver(db, { limits: { checkpointBytes: 4000 } });
    const config = await saver.put(THREAD, aCheckpoint({ a: 'x'.repeat(2500) }), METADATA, { a: 1 });
    const before = rowsIn(db);
    const second = { ...aCheckpoint({ b: 'y'.repeat(2500) }), channel_versions: { a: 1, b: 1 } };
    expect((await refusalOf(saver.put(config, second, METADATA, { b: 1 }))).code).toBe('VALUE_TOO_LARGE');
    expect(rowsIn(db)).toEqual(before);
    const restarted = new SqliteSaver(db, { limits: { checkpointBytes: 4000 } });
    expect((await refusalOf(restarted.put(config, second, METADATA, { b: 1 }))).code).toBe('VALUE_TOO_LARGE');
    expect(
      await saver.put(config, { ...second, channel_versions: { b: 1 } }, METADATA, { b: 1 }),
    ).toBeDefined();
  });

  test('of depth belong to the serde', async ({ db }) => {
    const limits = { depth: 4 };
    expect(await refused({ limits }, db, { a: [[[[1]]]] })).toBe(null);
    expect(await refused({ limits }, db, { b: [[[[[1]]]]] })).toBe('VALUE_TOO_LARGE');
  });

  test.for([0, -1, 1.5, Number.NaN, '9', Number.MAX_SAFE_INTEGER + 1])(
    'that are %s are a mistake',
    (limit, { db }) => {
      for (const name of ['valueBytes', 'channelBytes', 'checkpointBytes', 'depth']) {
        expect(() => new SqliteSaver(db, { limits: { [name]: limit } })).toThrow(RangeError);
      }
    },
  );
});

describe('another serde', () => {
  test('is used as it is, and the bytes it passes through are copied', async ({ db }) => {
    const bytes = new Uint8Array(2000).fill(7);
    const through = {
      dumpsTyped: async (value: unknown): Promise<[string, Uint8Array]> =>
        value instanceof Uint8Array ? ['own', value] : ['json', Buffer.from(JSON.stringify(value))],
      loadsTyped: async (type: string, data: Uint8Array | string): Promise<unknown> =>
        type === 'own' ? data : JSON.parse(Buffer.from(data as Uint8Array).toString()),
    };
    const saver = new SqliteSaver(db, { serde: through });
    const config = await saver.put(THREAD, aCheckpoint({ bytes }), METADATA, { bytes: 1 });
    bytes.fill(0);
    const first = await saver.getTuple(config);
    const given: unknown = first?.checkpoint.channel_values['bytes'];
    if (given instanceof Uint8Array) given.fill(1);
    expect(given).toEqual(new Uint8Array(2000).fill(1));
    const grown = new Uint8Array(2001).fill(7);
    const next = await saver.put(
      config,
      { ...aCheckpoint({ bytes: grown }), channel_versions: { bytes: 2 } },
      METADATA,
      { bytes: 2 },
    );
    expect((await saver.getTuple(config))?.checkpoint.channel_values['bytes']).toEqual(grown.subarray(1));
    expect(
      (await new SqliteSaver(db, { serde: through }).getTuple(next))?.checkpoint.channel_values['bytes'],
    ).toEqual(grown);
    expect(db.prepare('SELECT count(*) FROM state_blobs WHERE base_id IS NOT NULL').pluck().get()).toBe(1);
  });

  test('that fails in its own way is not disguised, and what it wrote is not read by the default one', async ({
    db,
  }) => {
    const failing = {
      dumpsTyped: () => Promise.reject(new SyntaxError('mine')),
      loadsTyped: () => Promise.resolve(1),
    };
    await expect(
      new SqliteSaver(db, { serde: failing }).put(THREAD, aCheckpoint({}), METADATA, {}),
    ).rejects.toThrow('mine');
    const json = {
      dumpsTyped: async (): Promise<[string, Uint8Array]> => ['json', Buffer.from('{}')],
      loadsTyped: async () => ({}),
    };
    await new SqliteSaver(db, { serde: json }).put(THREAD, aCheckpoint({}), METADATA, {});
    await expect(new SqliteSaver(db).getTuple(THREAD)).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  });
});
