import { Annotation, END, type MemorySaver, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { openStateCopy } from '../../../db/createDatabase.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { extractRun } from '../../../state/moving/movedRun.ts';
import { ada } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';

const joined = (left: readonly string[], right: readonly string[]): readonly string[] => [...left, ...right];
const State = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: joined, default: () => [] }),
  thread: Annotation<string>(),
});

interface InnerOptions {
  readonly checkpointer?: boolean | MemorySaver;
  readonly interruptBefore?: 'tell'[];
}

const innerGraph = (options: InnerOptions = {}) =>
  new StateGraph(State)
    .addNode('look', ({ log }) => ({ log: [`looked after ${log.length}`] }))
    .addNode('tell', ({ log }) => ({ log: [`told after ${log.length}`] }))
    .addEdge(START, 'look')
    .addEdge('look', 'tell')
    .compile(options);

/** Calls a graph on the thread that its state names. */
function calling(options: InnerOptions = {}, atWork = async (): Promise<void> => {}) {
  const inner = innerGraph(options);
  return new StateGraph(State)
    .addNode('call', async ({ thread }) => {
      const called = { configurable: { thread_id: thread } };
      const { log } = await inner.invoke({ log: ['in'] }, called);
      await atWork();
      return { log: [log.join(', ')] };
    })
    .addEdge(START, 'call')
    .addEdge('call', END);
}

const open = (db: Database, ...given: Parameters<typeof calling>) => durable(calling(...given), { db });

const rowsOn = (db: Database, thread: string): number =>
  ['checkpoints', 'checkpoint_writes', 'checkpoint_blobs']
    .map((table) =>
      db.prepare<[string], number>(`SELECT count(*) FROM ${table} WHERE thread_id = ?`).pluck().get(thread),
    )
    .reduce<number>((sum, count) => sum + (count ?? 0), 0);

const boundIn = (db: Database): readonly unknown[] =>
  db.prepare('SELECT DISTINCT run_id, thread_id FROM inner_threads ORDER BY run_id').raw().all();

describe('the thread of a graph that a node calls', () => {
  test('is no run: it is in no list, and nobody drives it', async ({ db }) => {
    const app = open(db);
    await app.run('run', { thread: 'user-7' });
    expect(rowsOn(db, 'user-7')).toBeGreaterThan(0);
    expect((await app.list()).runs.map(({ id }) => id)).toEqual(['run']);
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('keeps what a graph remembers, over turns and runs', async ({ db }) => {
    const app = open(db, { checkpointer: true });
    const first = await app.run('one', { thread: 'user-7' });
    const second = await app.run('one', { thread: 'user-7' }, { turn: 'again' });
    const third = await app.run('two', { thread: 'user-7' });
    expect([first, second, third].map(({ values }) => values?.log.at(-1))).toEqual([
      'in, looked after 1, told after 2',
      'in, looked after 1, told after 2, in, looked after 4, told after 5',
      'in, looked after 1, told after 2, in, looked after 4, told after 5, in, looked after 7, told after 8',
    ]);
    expect(boundIn(db)).toEqual([
      ['one', 'user-7'],
      ['two', 'user-7'],
    ]);
  });

  test('is written by two runs at the same time', async ({ db }) => {
    const waiting: (() => void)[] = [];
    const bothAreThere = (): Promise<void> =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 2) for (const go of waiting) go();
      });
    const app = open(db, { checkpointer: true }, bothAreThere);
    const [one, two] = await Promise.all(['one', 'two'].map((id) => app.run(id, { thread: 'user-7' })));
    expect([one?.status, two?.status]).toEqual(['completed', 'completed']);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
    const after = await open(db, { checkpointer: true }).run('three', { thread: 'user-7' });
    expect(after.values?.log.at(-1)).toMatch(/told after \d+$/);
  });

  test('stops at the breakpoints of the graph', async ({ db }) => {
    const app = open(db, { interruptBefore: ['tell'] });
    const { gates } = await app.run('run', { thread: 'user-7' });
    const gate = only(gates);
    expect(gate.artifact).toMatchObject({
      breakpoint: { graph: ['call'], next: ['tell'] },
      at: { thread: 'user-7' },
    });
    await app.decide(gate, { value: true, by: ada });
    expect((await app.run('run')).values?.log).toEqual(['in, looked after 1, told after 2']);
  });
});

describe('a graph inside a node', () => {
  test.for(['driven', 'waiting', 'ended'] as const)(
    'is not called on the thread of another run, which is %s',
    async (standing, { db }) => {
      const other = durable(calling(), {
        db,
        name: 'other',
        gates: standing === 'waiting' ? { call: () => 1 } : {},
      });
      if (standing === 'driven') await other.start('user-7', { thread: 'user-8' });
      else await other.run('user-7', { thread: 'user-8' });
      const lease = standing === 'driven' ? internalsOf(other).store.threads.claim('user-7') : null;
      const before = rowsOn(db, 'user-7');
      const app = durable(calling(), { db, name: 'this' });
      await expect(app.run('run', { thread: 'user-7' })).rejects.toMatchObject({
        code: 'RUN_FAILED',
        message: expect.stringContaining(
          'LEASE_LOST: A node of run "run" called a graph on thread "user-7", which is another run.',
        ),
      });
      expect(rowsOn(db, 'user-7')).toBe(before);
      expect(lease === null || lease.kind === 'claimed').toBe(true);
    },
  );

  test('is not called on a thread below another run', async ({ db }) => {
    const app = open(db);
    await app.run('shop', { thread: 'user-8' });
    const ran = app.run('run', { thread: 'shop/42' });
    await expect(ran).rejects.toThrow('on thread "shop/42", which belongs to run "shop"');
    expect((await app.run('desk/1', { thread: 'desk/2' })).status).toBe('completed');
  });
});

describe('deleting a run', () => {
  test('deletes what graphs in its nodes have left on threads of their own', async ({ db }) => {
    const app = open(db);
    await app.run('one', { thread: 'user-7' });
    const alone = rowsOn(db, 'user-7');
    await app.run('two', { thread: 'user-7' });
    await app.delete('two', { by: ada });
    expect(rowsOn(db, 'user-7')).toBe(alone);
    await app.delete('one', { by: ada });
    expect(rowsOn(db, 'user-7')).toBe(0);
    expect(boundIn(db)).toEqual([]);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('leaves what a graph remembers until the last run goes that has used it', async ({ db }) => {
    const app = open(db, { checkpointer: true });
    await app.run('one', { thread: 'user-7' });
    await app.run('two', { thread: 'user-7' });
    await app.delete('one', { by: ada });
    const third = await app.run('three', { thread: 'user-7' });
    expect(third.values?.log).toEqual([expect.stringContaining('looked after 7')]);
    await app.delete('two', { by: ada });
    await app.delete('three', { by: ada });
    expect(rowsOn(db, 'user-7')).toBe(0);
  });

  test('leaves what the graphs of another run have on a thread of its id', async ({ db }) => {
    const app = open(db, { checkpointer: true });
    await app.run('one', { thread: 'user-7' });
    const before = rowsOn(db, 'user-7');
    await app.run('user-7', { thread: 'user-8' });
    await app.delete('user-7', { by: ada });
    expect(rowsOn(db, 'user-7')).toBe(before);
    expect((await app.run('two', { thread: 'user-7' })).values?.log).toEqual([
      expect.stringContaining('looked after 4'),
    ]);
  });
});

test('a run that moves to a file of its own takes along what its graphs remember, and no more', async ({
  db,
}) => {
  const app = open(db, { checkpointer: true });
  await app.run('one', { thread: 'user-7' });
  await app.run('two', { thread: 'user-8' });
  await app.run('three', { thread: 'user-8' });
  const copy = openStateCopy(extractRun(db, 'one'));
  expect([rowsOn(copy, 'user-7'), rowsOn(copy, 'user-8')]).toEqual([rowsOn(db, 'user-7'), 0]);
  expect(boundIn(copy)).toEqual([['one', 'user-7']]);
  copy.close();
});
