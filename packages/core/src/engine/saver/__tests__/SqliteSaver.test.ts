import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  compareWritesSortKeys,
  emptyCheckpoint,
  INTERRUPT,
  RESUME,
  TASKS,
  uuid6,
  writesSortKey,
} from '@langchain/langgraph-checkpoint';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { SqliteSaver } from '../SqliteSaver.ts';

const THREAD = { configurable: { thread_id: 'run-1', checkpoint_ns: '' } };
const METADATA: CheckpointMetadata = { source: 'loop', step: 0, parents: {} };

function aCheckpoint(values: Record<string, unknown> = {}, version = 1): Checkpoint {
  const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, version]));
  return { ...emptyCheckpoint(), id: uuid6(0), channel_values: values, channel_versions: versions };
}

async function listed(
  saver: SqliteSaver,
  ...args: Parameters<SqliteSaver['list']>
): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  for await (const tuple of saver.list(...args)) tuples.push(tuple);
  return tuples;
}

/** A run row at an epoch, as the store of threads writes it. */
function aThread(db: Database, threadId: string, epoch: number): void {
  db.prepare(
    `INSERT INTO threads (thread_id, project_id, graph_fingerprint, lease_epoch, created_at, updated_at)
     VALUES (?, 'p', 'f', ?, 0, 0)`,
  ).run(threadId, epoch);
}

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  note: Annotation<string>,
});

/** Appends its visits; the second node asks a human. */
function aGraph(saver: SqliteSaver) {
  return new StateGraph(State)
    .addNode('work', () => ({ log: ['work'], note: 'x'.repeat(3000) }))
    .addNode('ask', () => ({ log: [`asked:${String(interrupt('ok?'))}`] }))
    .addEdge(START, 'work')
    .addEdge('work', 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer: saver });
}

describe('order', () => {
  test('the newest checkpoint is the one put last, whatever the clock says', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const clock = vi.spyOn(Date, 'now');
    const ids: string[] = [];
    let config = THREAD as Parameters<SqliteSaver['put']>[0];
    for (const now of [10_000, 9_950, 5_000, 1]) {
      clock.mockReturnValue(now);
      const checkpoint = { ...aCheckpoint(), id: `${String(now).padStart(8, '0')}-id` };
      ids.push(checkpoint.id);
      config = await saver.put(config, checkpoint, METADATA, {});
    }
    clock.mockRestore();
    expect((await saver.getTuple(THREAD))?.checkpoint.id).toBe(ids.at(-1));
    expect((await listed(saver, THREAD)).map(({ checkpoint }) => checkpoint.id)).toEqual(ids.toReversed());
    const before = { configurable: { checkpoint_id: ids[2] } };
    expect((await listed(saver, THREAD, { before })).map(({ checkpoint }) => checkpoint.id)).toEqual([
      ids[1],
      ids[0],
    ]);
  });

  test('putting an old checkpoint again does not make it the newest', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const [old, latest] = [aCheckpoint(), aCheckpoint()];
    const config = await saver.put(THREAD, old, METADATA, {});
    await saver.put(config, latest, METADATA, {});
    await saver.put(THREAD, old, { ...METADATA, step: 7 }, {});
    const newest = await saver.getTuple(THREAD);
    expect(newest?.checkpoint.id).toBe(latest.id);
    expect((await saver.getTuple(config))?.metadata?.step).toBe(7);
  });

  test('pending writes come back in the order live execution applies them', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const texts = fc.constantFrom('', 'a', 'b', '~', '\uffff', '\u{1f600}', '__pregel_pull, a');
    const write = fc.record({
      path: texts,
      task: texts.map((text) => `t${text}`),
      count: fc.integer({ min: 1, max: 3 }),
    });
    const uniqueTasks = fc.uniqueArray(write, { selector: ({ task }) => task, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(uniqueTasks, async (tasks) => {
        const config = await saver.put(THREAD, aCheckpoint(), METADATA, {});
        for (const { path, task, count } of tasks) {
          const writes = Array.from({ length: count }, (_, idx): [string, unknown] => [
            'log',
            `${task}/${idx}`,
          ]);
          await saver.putWrites(config, writes, task, path);
        }
        const expected = tasks
          .flatMap(({ path, task, count }) =>
            Array.from({ length: count }, (_, idx) => ({
              key: writesSortKey(path, task, idx),
              value: `${task}/${idx}`,
            })),
          )
          .sort((a, b) => compareWritesSortKeys(a.key, b.key))
          .map(({ value }) => value);
        const tuple = await saver.getTuple(config);
        expect(tuple?.pendingWrites?.map(([, , value]) => value)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });
});

describe('values', () => {
  test('binary values and large writes come back intact', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const bytes = new Uint8Array([0, 255, 128, 10, 0]);
    const large = 'é'.repeat(5000);
    const config = await saver.put(THREAD, aCheckpoint({ bytes }), METADATA, { bytes: 1 });
    await saver.putWrites(
      config,
      [
        ['bytes', bytes],
        ['text', large],
      ],
      'task',
    );
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint.channel_values).toEqual({ bytes });
    expect(tuple?.pendingWrites).toEqual([
      ['task', 'bytes', bytes],
      ['task', 'text', large],
    ]);
  });

  test('a large write and the channel value it becomes are stored once', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const text = 'word '.repeat(1000);
    const config = await saver.put(THREAD, aCheckpoint(), METADATA, {});
    await saver.putWrites(config, [['text', text]], 'task');
    await saver.put(config, aCheckpoint({ text }), METADATA, { text: 1 });
    expect(db.prepare('SELECT count(*) FROM state_blobs').pluck().get()).toBe(1);
  });

  test('what the caller changes after put is not what was stored', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const list = [1];
    const checkpoint = aCheckpoint({ list });
    const put = saver.put(THREAD, checkpoint, METADATA, { list: 1 });
    list.push(2);
    checkpoint.channel_values['list'] = 'gone';
    const config = await put;
    expect((await saver.getTuple(config))?.checkpoint.channel_values).toEqual({ list: [1] });
  });

  test('a version never changes its value: another one is refused and nothing of it is stored', async ({
    db,
  }) => {
    const saver = new SqliteSaver(db);
    const first = await saver.put(THREAD, aCheckpoint({ a: 'one' }), METADATA, { a: 1 });
    await saver.put(first, aCheckpoint({ a: 'one' }), METADATA, { a: 1 });
    await expect(saver.put(first, aCheckpoint({ a: 'two' }), METADATA, { a: 1 })).rejects.toMatchObject({
      code: 'VALUE_NOT_STORABLE',
    });
    expect(await listed(saver, THREAD)).toHaveLength(2);
    expect((await saver.getTuple(first))?.checkpoint.channel_values).toEqual({ a: 'one' });
  });

  test('two branches from one checkpoint keep their own values', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const graph = aGraph(saver);
    await graph.invoke({ note: 'start' }, THREAD);
    const fork = (await saver.getTuple(THREAD))?.config ?? {};
    const left = await graph.updateState(fork, { note: 'left' });
    const right = await graph.updateState(fork, { note: 'right' });
    expect((await graph.getState(left)).values).toMatchObject({ log: ['work'], note: 'left' });
    expect((await graph.getState(right)).values).toMatchObject({ log: ['work'], note: 'right' });
  });

  test('versions count up and differ each time', ({ db }) => {
    const saver = new SqliteSaver(db);
    let version: number | undefined;
    for (let step = 1; step <= 100; step += 1) {
      version = saver.getNextVersion(version);
      expect(Math.floor(version)).toBe(step);
    }
    expect(saver.getNextVersion(5)).not.toBe(saver.getNextVersion(5));
  });

  test('a checkpoint is stored whole where nobody says what is new in it', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const checkpoint = { ...aCheckpoint({ a: 'one', b: ['x'] }), channel_versions: { a: 1, b: 2, gone: 3 } };
    checkpoint.channel_values['unversioned'] = true;
    const config = await saver.put(THREAD, checkpoint, METADATA);
    expect((await saver.getTuple(config))?.checkpoint).toEqual(checkpoint);
    // A second one of the same versions adds nothing, and the next one finds what it does not bring.
    const second = await saver.put(config, { ...checkpoint, id: uuid6(1) }, METADATA);
    const next = {
      ...checkpoint,
      id: uuid6(2),
      channel_values: { b: ['y'] },
      channel_versions: { a: 1, b: 4 },
    };
    const third = await saver.put(second, next, METADATA, { b: 4 });
    expect((await saver.getTuple(third))?.checkpoint.channel_values).toEqual({ a: 'one', b: ['y'] });
    expect(db.prepare('SELECT count(*) FROM checkpoint_blobs').pluck().get()).toBe(3);
  });

  test('a value is left as it is by a whole checkpoint that does not have it, and refused as another one', async ({
    db,
  }) => {
    const saver = new SqliteSaver(db);
    const first = await saver.put(THREAD, aCheckpoint({ a: 'one' }), METADATA);
    const without = { ...aCheckpoint({ a: 'one' }), channel_values: {} };
    await saver.put(first, without, METADATA);
    expect((await saver.getTuple(first))?.checkpoint.channel_values).toEqual({ a: 'one' });
    await expect(saver.put(first, aCheckpoint({ a: 'two' }), METADATA)).rejects.toMatchObject({
      code: 'VALUE_NOT_STORABLE',
    });
  });

  test('checkpoints of an older format are stored whole, and their channels are found by later ones', async ({
    db,
  }) => {
    const saver = new SqliteSaver(db);
    const old = { ...aCheckpoint({ a: 1, b: 2 }), v: 3 };
    const config = await saver.put(THREAD, old, METADATA, {});
    expect((await saver.getTuple(config))?.checkpoint.channel_values).toEqual({ a: 1, b: 2 });
    const next = { ...aCheckpoint({ a: 1, b: 3 }), channel_versions: { a: 1, b: 2 } };
    const later = await saver.put(config, next, METADATA, { b: 2 });
    expect((await saver.getTuple(later))?.checkpoint.channel_values).toEqual({ a: 1, b: 3 });
  });

  test('checkpoints of an older format find their sends in the writes of the step before', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const parent = await saver.put(THREAD, { ...aCheckpoint(), v: 1 }, METADATA, {});
    await saver.putWrites(parent, [[TASKS, 'b']], 'task-2');
    await saver.putWrites(
      parent,
      [
        [TASKS, 'a'],
        ['log', 1],
      ],
      'task-1',
    );
    const config = await saver.put(parent, { ...aCheckpoint({ a: 1 }, 5), v: 1 }, METADATA, {});
    const { channel_values, channel_versions } = (await saver.getTuple(config))?.checkpoint ?? {};
    expect(channel_values).toEqual({ a: 1, [TASKS]: ['a', 'b'] });
    expect(channel_versions).toEqual({ a: 5, [TASKS]: 5 });
  });

  test('a channel that was consumed is empty at its new version and full at the old one', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const full = await saver.put(THREAD, aCheckpoint({ a: 1 }), METADATA, { a: 1 });
    const consumed = { ...aCheckpoint(), channel_versions: { a: 2 } };
    const empty = await saver.put(full, consumed, METADATA, { a: 2 });
    expect((await saver.getTuple(full))?.checkpoint.channel_values).toEqual({ a: 1 });
    expect((await saver.getTuple(empty))?.checkpoint.channel_values).toEqual({});
    await expect(
      saver.put(full, { ...consumed, channel_values: { a: 3 } }, METADATA, { a: 2 }),
    ).rejects.toMatchObject({
      code: 'VALUE_NOT_STORABLE',
    });
  });

  test("a task's own channels are replaced, its other writes stay as they were first", async ({ db }) => {
    const saver = new SqliteSaver(db);
    const config = await saver.put(THREAD, aCheckpoint(), METADATA, {});
    for (const value of ['first', 'second']) {
      await saver.putWrites(
        config,
        [
          ['log', value],
          [RESUME, value],
        ],
        'task',
      );
    }
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ['task', RESUME, 'second'],
      ['task', 'log', 'first'],
    ]);
  });

  test.for([
    ['a text', 'paused'],
    ['nothing', null],
    ['an object', { value: 'paused', response_schema: { type: 'string' } }],
    ['a list of a text and nothing', ['paused', null]],
  ] as const)('an interrupt that is %s comes back as it was written', async ([, value], { db }) => {
    const saver = new SqliteSaver(db);
    const config = await saver.put(THREAD, aCheckpoint(), METADATA);
    await saver.putWrites(config, [[INTERRUPT, value]], 'task');
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([['task', INTERRUPT, value]]);
    expect((await aGraph(saver).getState(THREAD)).next).toEqual([]);
    await expect(saver.prune('run-1', { keepLast: 1 })).resolves.toMatchObject({ removed: 0 });
  });

  test('damaged rows are reported, never used', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const values = { a: 'text', long: 'text '.repeat(20) };
    const config = await saver.put(THREAD, aCheckpoint(values), METADATA, { a: 1, long: 1 });
    await saver.putWrites(config, [['a', 'small']], 'task');
    const damages = [
      'UPDATE checkpoint_blobs SET value = CAST(\'"texu"\' AS BLOB) WHERE value IS NOT NULL',
      'UPDATE checkpoint_writes SET value = CAST(\'"smalk"\' AS BLOB)',
      'UPDATE state_blobs SET bytes = CAST(\'"texu"\' AS BLOB)',
      'UPDATE checkpoints SET metadata = CAST(\'{"step":9}\' AS BLOB)',
      'DELETE FROM state_blobs',
    ];
    db.pragma('foreign_keys = OFF');
    for (const damage of damages) {
      db.exec(`SAVEPOINT before; ${damage}`);
      await expect(saver.getTuple(config), damage).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
      db.exec('ROLLBACK TO before; RELEASE before');
    }
    expect((await saver.getTuple(config))?.checkpoint.channel_values).toEqual(values);
  });
});

describe('connections', () => {
  test('a second connection sees each commit, and reads the same bytes after a reconnect', async ({
    dbPath,
  }) => {
    const [one, two] = [createDatabase({ dbPath }), createDatabase({ dbPath })];
    const [writer, reader] = [new SqliteSaver(one), new SqliteSaver(two)];
    const graph = aGraph(writer);
    await graph.invoke({ note: 'start' }, THREAD);
    expect(await reader.getTuple(THREAD)).toEqual(await writer.getTuple(THREAD));

    const bytes = (db: Database): unknown =>
      db.prepare('SELECT checkpoint, metadata, sha256 FROM checkpoints ORDER BY seq').all();
    const before = bytes(one);
    writer.close();
    reader.close();
    const again = createDatabase({ dbPath });
    expect(bytes(again)).toEqual(before);
    const resumed = await aGraph(new SqliteSaver(again)).invoke(new Command({ resume: 'yes' }), THREAD);
    expect(resumed.log).toEqual(['work', 'asked:yes']);
    again.close();
  });

  test('list holds no statement open while its caller writes', async ({ db, dbPath }) => {
    const saver = new SqliteSaver(db);
    let config = THREAD as Parameters<SqliteSaver['put']>[0];
    for (let step = 0; step < 80; step += 1)
      config = await saver.put(config, aCheckpoint(), { ...METADATA, step }, {});
    const steps: unknown[] = [];
    for await (const tuple of saver.list(THREAD)) {
      steps.push(tuple.metadata?.step);
      if (steps.length < 3) await saver.put(config, aCheckpoint(), { ...METADATA, step: 100 }, {});
    }
    expect(steps).toEqual(Array.from({ length: 80 }, (_, index) => 79 - index));
    const other = new BetterSqlite3(dbPath);
    expect(other.pragma('wal_checkpoint(TRUNCATE)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
    other.close();
  });

  test('is opened by the path of its file, and by none', async ({ dbPath }) => {
    const first = SqliteSaver.fromConnString(dbPath);
    const config = await first.put(THREAD, aCheckpoint({ a: 1 }), METADATA);
    first.close();
    const second = SqliteSaver.fromConnString(dbPath);
    expect((await second.getTuple(config))?.checkpoint.channel_values).toEqual({ a: 1 });
    const other = SqliteSaver.fromConnString(':memory:');
    expect(await other.getTuple(config)).toBeUndefined();
    for (const saver of [second, other]) saver.close();
  });

  test('may be built on a handle its caller opened', async ({ dbPath }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const saver = new SqliteSaver(new BetterSqlite3(dbPath));
    await saver.put(THREAD, aCheckpoint(), METADATA, {});
    expect(await saver.getTuple(THREAD)).toBeDefined();
    saver.close();
    warn.mockRestore();
  });

  test('close may be called twice, and after the database was closed', ({ db }) => {
    const saver = new SqliteSaver(db);
    db.close();
    saver.close();
    saver.close();
    expect(db.open).toBe(false);
  });

  test('types the faults of the file', async ({ db, dbPath }) => {
    new SqliteSaver(db);
    const readOnly = new BetterSqlite3(dbPath, { readonly: true });
    await expect(new SqliteSaver(readOnly).put(THREAD, aCheckpoint(), METADATA, {})).rejects.toMatchObject({
      code: 'STATE_IO',
    });
    readOnly.close();
  });
});

describe('fencing', () => {
  const leased = (epoch: unknown, more: Record<string, unknown> = {}) => ({
    configurable: { ...THREAD.configurable, lease_epoch: epoch, ...more },
  });

  test('a write is refused as soon as a newer driver exists, and leaves nothing', async ({ db }) => {
    aThread(db, 'run-1', 3);
    const saver = new SqliteSaver(db);
    const config = await saver.put(leased(3), aCheckpoint(), METADATA, {});
    db.prepare('UPDATE threads SET lease_epoch = 4').run();
    const stale = leased(3, { checkpoint_id: config.configurable?.['checkpoint_id'] });
    await expect(saver.put(stale, aCheckpoint(), METADATA, {})).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expect(saver.putWrites(stale, [['log', 1]], 'task')).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await listed(saver, THREAD)).toHaveLength(1);
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([]);
  });

  test('an epoch without a run is refused', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await expect(saver.put(leased(1), aCheckpoint(), METADATA, {})).rejects.toMatchObject({
      code: 'LEASE_LOST',
    });
  });

  test('the lease of the root covers the threads of child frames', async ({ db }) => {
    aThread(db, 'root', 2);
    const saver = new SqliteSaver(db);
    await saver.put(leased(2, { lease_thread_id: 'root' }), aCheckpoint(), METADATA, {});
    await expect(
      saver.put(leased(1, { lease_thread_id: 'root' }), aCheckpoint(), METADATA, {}),
    ).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  test('configs that are given back carry no epoch', async ({ db }) => {
    aThread(db, 'run-1', 1);
    const saver = new SqliteSaver(db);
    const put = await saver.put(leased(1), aCheckpoint(), METADATA, {});
    const tuple = await saver.getTuple({ configurable: { ...put.configurable, lease_epoch: 1 } });
    for (const config of [put, tuple?.config]) {
      expect(Object.keys(config?.configurable ?? {}).sort()).toEqual([
        'checkpoint_id',
        'checkpoint_ns',
        'thread_id',
      ]);
    }
  });

  test('a driver that was replaced in the middle of a run stops at its next commit', async ({ db }) => {
    aThread(db, 'run-1', 1);
    const saver = new SqliteSaver(db);
    const graph = aGraph(saver);
    const config = { ...leased(1), durability: 'sync' as const };
    await graph.invoke({ note: 'start' }, config);
    db.prepare('UPDATE threads SET lease_epoch = 2').run();
    await expect(graph.invoke(new Command({ resume: 'late' }), config)).rejects.toMatchObject({
      code: 'LEASE_LOST',
    });
    expect((await graph.getState(THREAD)).values.log).toEqual(['work']);
  });

  test.for([1.5, Number.NaN, '1', null])('an epoch that is %s is a mistake', async (epoch, { db }) => {
    await expect(new SqliteSaver(db).put(leased(epoch), aCheckpoint(), METADATA, {})).rejects.toThrow(
      TypeError,
    );
  });
});

describe('arguments', () => {
  test.for([7, null, {}, [], true, ''])('a thread id that is %j reaches no row', async (threadId, { db }) => {
    const saver = new SqliteSaver(db);
    await saver.put(THREAD, aCheckpoint(), METADATA, {});
    const config = { configurable: { thread_id: threadId } };
    await expect(saver.getTuple(config)).rejects.toThrow(TypeError);
    await expect(listed(saver, config)).rejects.toThrow(TypeError);
    await expect(saver.put(config, aCheckpoint(), METADATA, {})).rejects.toThrow(TypeError);
  });

  test('a write needs a thread and a checkpoint, a read without a thread finds nothing', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await expect(saver.put({}, aCheckpoint(), METADATA, {})).rejects.toThrow('thread_id is missing');
    await expect(saver.putWrites(THREAD, [['a', 1]], 'task')).rejects.toThrow('checkpoint_id is missing');
    const nowhere = { configurable: { thread_id: 'run-1', checkpoint_ns: 7 } };
    await expect(saver.put(nowhere, aCheckpoint(), METADATA, {})).rejects.toThrow('checkpoint_ns');
    expect(await saver.getTuple({})).toBeUndefined();
  });

  test('list without a thread gives every thread, newest first', async ({ db }) => {
    const saver = new SqliteSaver(db);
    for (const thread_id of ['b', 'a'])
      await saver.put({ configurable: { thread_id } }, aCheckpoint(), METADATA, {});
    const threads = (await listed(saver, {})).map(({ config }) => config.configurable?.['thread_id']);
    expect(threads).toEqual(['a', 'b']);
  });

  test('hostile texts are ids like any other', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await saver.put(THREAD, aCheckpoint(), METADATA, {});
    for (const text of ["' OR 1=1 --", '%', '_', 'run-1\0', '__proto__', 'RUN-1', '?', '@threadId']) {
      const config = { configurable: { thread_id: text } };
      expect(await listed(saver, config)).toEqual([]);
      expect(await saver.getTuple(config)).toBeUndefined();
      await saver.put(config, aCheckpoint(), METADATA, {});
      expect(await listed(saver, config)).toHaveLength(1);
    }
  });

  test.for([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1'])(
    'list refuses the limit %s',
    async (limit, { db }) => {
      await expect(listed(new SqliteSaver(db), THREAD, { limit: limit as number })).rejects.toThrow(
        RangeError,
      );
    },
  );

  test('list filters by own metadata first and limits then', async ({ db }) => {
    const saver = new SqliteSaver(db);
    for (let step = 0; step < 6; step += 1) {
      await saver.put(
        THREAD,
        aCheckpoint(),
        { ...METADATA, source: step % 2 === 0 ? 'loop' : 'input', step },
        {},
      );
    }
    const stepsOf = async (options: Parameters<SqliteSaver['list']>[1]): Promise<unknown[]> =>
      (await listed(saver, THREAD, options)).map(({ metadata }) => metadata?.step);
    expect(await stepsOf({ filter: { source: 'loop' }, limit: 2 })).toEqual([4, 2]);
    expect(await stepsOf({ limit: 0 })).toEqual([]);
    for (const filter of [
      { toString: Object.prototype.toString },
      { constructor: Object },
      { "a' OR 1=1": 1 },
    ]) {
      expect(await stepsOf({ filter })).toEqual([]);
    }
  });

  test.for<readonly [string, unknown, unknown, boolean]>([
    [
      'an object with its keys in another order',
      { b: [1, { c: null }], a: 'x' },
      { a: 'x', b: [1, { c: null }] },
      true,
    ],
    ['a part of an object', { a: 1, b: 2 }, { a: 1 }, false],
    ['more than the object', { a: 1 }, { a: 1, b: 2 }, false],
    ['as many other keys', { a: 1, b: 2 }, { a: 1, c: 2 }, false],
    ['an object within, of another value', { a: { b: 1 } }, { a: { b: 2 } }, false],
    ['a key that is undefined, against none', { a: 1 }, { a: 1, b: undefined }, true],
    ['none, against a key that is undefined', { a: 1, b: undefined }, { a: 1 }, true],
    ['null against undefined', { a: null }, { a: undefined }, false],
    ['a list', [1, { a: [2] }], [1, { a: [2] }], true],
    ['a list in another order', [1, 2], [2, 1], false],
    ['the beginning of a list', [1, 2], [1], false],
    ['a list against an object', ['x'], { 0: 'x' }, false],
    ['nothing in it', {}, {}, true],
    ['an empty list against an empty object', [], {}, false],
    ['null', null, null, true],
    ['null against an object', null, {}, false],
    ['a number against its text', 1, '1', false],
    ['zero of either sign', 0, -0, true],
    ['a map of the same entries', new Map([['a', 1]]), new Map([['a', 1]]), true],
    ['a map of others', new Map([['a', 1]]), new Map([['a', 2]]), false],
    ['a moment', new Date(5), new Date(5), true],
  ])('list compares by content: %s', async ([, stored, wanted, isFound], { db }) => {
    const saver = new SqliteSaver(db);
    const metadata = { ...METADATA, about: stored } as CheckpointMetadata;
    await saver.put(THREAD, aCheckpoint(), metadata, {});
    const found = await listed(saver, THREAD, { filter: { about: wanted, parents: {} } });
    expect(found).toHaveLength(isFound ? 1 : 0);
  });

  test('list filters by no value that is undefined, and ends on a filter that leads back to itself', async ({
    db,
  }) => {
    const saver = new SqliteSaver(db);
    await saver.put(THREAD, aCheckpoint(), METADATA, {});
    const circle: Record<string, unknown> = {};
    circle['parents'] = circle;
    for (const filter of [{ tenant: undefined }, { source: undefined }, circle])
      expect(await listed(saver, THREAD, { filter })).toEqual([]);
  });

  test('a bound that is not in the file falls back to the order of ids', async ({ db }) => {
    const saver = new SqliteSaver(db);
    for (const id of ['a', 'c']) await saver.put(THREAD, { ...aCheckpoint(), id }, METADATA, {});
    const found = await listed(saver, THREAD, { before: { configurable: { checkpoint_id: 'b' } } });
    expect(found.map(({ checkpoint }) => checkpoint.id)).toEqual(['a']);
  });

  test('deleteThread removes one thread in every namespace', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const other = { configurable: { thread_id: 'run-2' } };
    const child = { configurable: { thread_id: 'run-1', checkpoint_ns: 'child' } };
    for (const config of [THREAD, child, other]) {
      const put = await saver.put(config, aCheckpoint({ a: 1 }), METADATA, { a: 1 });
      await saver.putWrites(put, [['a', 2]], 'task');
    }
    await saver.deleteThread('run-1');
    await expect(saver.deleteThread(undefined as unknown as string)).rejects.toThrow(TypeError);
    for (const table of ['checkpoints', 'checkpoint_writes', 'checkpoint_blobs']) {
      expect(db.prepare(`SELECT DISTINCT thread_id FROM ${table}`).pluck().all()).toEqual(['run-2']);
    }
  });
});
