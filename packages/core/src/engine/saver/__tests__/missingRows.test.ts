import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { type CheckpointMetadata, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { ada } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { SqliteSaver } from '../SqliteSaver.ts';

const METADATA: CheckpointMetadata = { source: 'loop', step: 1, parents: {} };
const THREAD = { configurable: { thread_id: 'run' } };
const CORRUPT = expect.objectContaining({ code: 'STATE_CORRUPT' }) as object;

const Post = Annotation.Root({
  topic: Annotation<string>(),
  /** Shown at no gate. */
  account: Annotation<string>(),
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** What `publish` was given, each time that it ran. */
function publishing(db: Database, published: unknown[] = []) {
  const graph = new StateGraph(Post)
    .addNode('plan', () => ({ account: 'test account', log: ['planned'] }))
    .addNode('publish', ({ account, log }) => {
      published.push({ account, log });
      return { log: ['published'] };
    })
    .addEdge(START, 'plan')
    .addEdge('plan', 'publish')
    .addEdge('publish', END);
  return durable(graph, { db, gates: { publish: ({ topic }) => topic } });
}

const aCheckpoint = (values: Record<string, unknown>, version = 1) => ({
  ...emptyCheckpoint(),
  id: uuid6(0),
  channel_values: values,
  channel_versions: Object.fromEntries(Object.keys(values).map((name) => [name, version])),
});

describe('a run that waits at its gate, of whose checkpoint', () => {
  test.for([
    [
      'the trigger of the next node is missing',
      "DELETE FROM checkpoint_blobs WHERE channel = 'branch:to:publish'",
    ],
    ['a value that no gate shows is missing', "DELETE FROM checkpoint_blobs WHERE channel = 'account'"],
    [
      'a value is that of another channel',
      `UPDATE checkpoint_blobs AS b SET value = o.value, sha256 = o.sha256, type = o.type
       FROM (SELECT * FROM checkpoint_blobs WHERE channel = 'topic') AS o WHERE b.channel = 'account'`,
    ],
    ['a question is missing', "DELETE FROM checkpoint_writes WHERE channel = '__interrupt__'"],
    [
      'a write is that of another task',
      "UPDATE checkpoint_writes SET task_id = 'other' WHERE channel = '__interrupt__'",
    ],
    ['the place in the order is another', 'UPDATE checkpoints SET seq = 1000 - seq'],
  ] as const)('%s, is refused, and doctor names it', async ([_what, sql], { db }) => {
    const published: unknown[] = [];
    const app = publishing(db, published);
    const gate = only((await app.run('run', { topic: 'News' })).gates);
    await app.decide(gate, { approved: true, by: ada });
    db.exec(sql);
    expect(doctor(db).ok).toBe(false);
    await expect(publishing(db, published).run('run')).rejects.toThrow(CORRUPT);
    expect(published).toEqual([]);
  });

  test('nothing is missing, goes on', async ({ db }) => {
    const published: unknown[] = [];
    const app = publishing(db, published);
    const gate = only((await app.run('run', { topic: 'News' })).gates);
    await app.decide(gate, { approved: true, by: ada });
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
    await publishing(db, published).run('run');
    expect(published).toEqual([{ account: 'test account', log: ['planned'] }]);
  });

  test('the rows are of before, is read as it was, and doctor says that nothing is checked', async ({
    db,
  }) => {
    const app = publishing(db);
    const gate = only((await app.run('run', { topic: 'News' })).gates);
    db.exec(`
      UPDATE checkpoints SET row_sha256 = NULL, writes = NULL;
      UPDATE state_blobs SET seal = NULL;
      UPDATE thread_inputs SET seal = NULL`);
    const { ok, findings } = doctor(db);
    expect(ok).toBe(true);
    expect(findings.map(({ code, table, detail }) => `${code} ${table}: ${detail}`)).toEqual([
      'ROW_UNSEALED checkpoints: 3 older rows have no checksum over the key.',
      expect.stringMatching(
        /^ROW_UNSEALED state_blobs: \d+ older rows? ha(s|ve) no checksum over the key\.$/,
      ),
      'ROW_UNSEALED thread_inputs: 1 older row has no checksum over the key.',
    ]);
    await app.decide(gate, { approved: true, by: ada });
    expect((await app.run('run')).status).toBe('completed');
    db.exec("DELETE FROM checkpoint_blobs WHERE channel = 'topic'");
    await expect(publishing(db).values('run')).rejects.toThrow(CORRUPT);
  });
});

describe('every version that a checkpoint names has a row', () => {
  /** What is named and has none. By the version's own digits: SQLite writes a number in others than JavaScript does. */
  const without = (db: Database): unknown =>
    db
      .prepare(
        `SELECT count(*) FROM checkpoints AS c, json_each(c.checkpoint, '$.channel_versions') AS v
         WHERE NOT EXISTS (SELECT 1 FROM checkpoint_blobs AS b WHERE b.thread_id = c.thread_id
                             AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = v.key AND b.version = c.checkpoint -> 'channel_versions' -> v.key)`,
      )
      .pluck()
      .get();

  test('or says that it was never stored, of a checkpoint of this format or an older one', async ({ db }) => {
    const saver = new SqliteSaver(db);
    for (const v of [4, 3, 1]) {
      const checkpoint = {
        ...aCheckpoint({ a: 1, b: 'two' }),
        v,
        channel_versions: { a: 1, b: 1, empty: 1 },
      };
      const config = { configurable: { thread_id: `format ${v}` } };
      const stored = await saver.put(config, checkpoint, METADATA, {});
      const tuple = await saver.getTuple(stored);
      // In this format, what nobody says is new has to be in the file already; it was never stored.
      expect(tuple?.checkpoint.channel_values).toEqual(v === 4 ? {} : { a: 1, b: 'two' });
    }
    expect(doctor(db).findings).toEqual([]);
  });

  test('of a checkpoint that names the versions of its parent, for a connection that did not write those', async ({
    db,
  }) => {
    const parent = await new SqliteSaver(db).put(THREAD, aCheckpoint({ a: 1, b: 1 }), METADATA, {
      a: 1,
      b: 1,
    });
    const next = { ...aCheckpoint({ a: 1, b: 2 }), channel_versions: { a: 1, b: 2 } };
    const stored = await new SqliteSaver(db).put(parent, next, METADATA, { b: 2 });
    expect((await new SqliteSaver(db).getTuple(stored))?.checkpoint.channel_values).toEqual({ a: 1, b: 2 });
    expect([without(db), doctor(db).findings]).toEqual([0, []]);
  });

  test('of a run that was forked, and of one that was pruned', async ({ db }) => {
    const app = publishing(db);
    const gate = only((await app.run('run', { topic: 'News' })).gates);
    await app.fork('run', { as: 'fork', by: ada });
    await app.decide(gate, { approved: true, by: ada });
    await app.run('run');
    await new SqliteSaver(db).prune('run', { keepLast: 1 });
    expect((await app.run('fork')).status).toBe('waiting');
    expect([without(db), doctor(db).ok]).toEqual([0, true]);
  });

  test('and a checkpoint that was there keeps its place when it is put again', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const first = aCheckpoint({ a: 1 });
    await saver.put(THREAD, first, METADATA, { a: 1 });
    const second = aCheckpoint({ a: 1 });
    await saver.put(THREAD, second, METADATA, {});
    const config = await saver.put(THREAD, first, { ...METADATA, step: 2 }, { a: 1 });
    expect((await saver.getTuple(config))?.metadata?.step).toBe(2);
    expect((await saver.getTuple(THREAD))?.checkpoint.id).toBe(second.id);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });
});

describe('writes on top of a checkpoint', () => {
  test('are counted however they come: again, replaced, before their checkpoint', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const checkpoint = aCheckpoint({ a: 1 });
    const on = { configurable: { thread_id: 'run', checkpoint_ns: '', checkpoint_id: checkpoint.id } };
    await saver.putWrites(on, [['a', 1]], 'early');
    await saver.put(THREAD, checkpoint, METADATA, { a: 1 });
    for (const value of [1, 2]) {
      await saver.putWrites(on, [['a', value]], 'task');
      await saver.putWrites(on, [['__resume__', value]], 'task');
    }
    expect((await saver.getTuple(THREAD))?.pendingWrites?.length).toBe(3);
    expect(db.prepare('SELECT writes FROM checkpoints').pluck().get()).toBe(3);
    db.exec("DELETE FROM checkpoint_writes WHERE task_id = 'early'");
    await expect(saver.getTuple(THREAD)).rejects.toThrow(CORRUPT);
  });
});
