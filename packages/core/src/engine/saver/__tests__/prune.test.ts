import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import {
  type CheckpointMetadata,
  type CheckpointTuple,
  emptyCheckpoint,
  type SerializerProtocol,
  TASKS,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { createDatabase, prepareConnection } from '../../../db/createDatabase.ts';
import { aHost, aThread } from '../../../state/__tests__/aThread.ts';
import { CheckpointPersister } from '../../../state/CheckpointPersister.ts';
import { ThreadStore } from '../../../state/threads/ThreadStore.ts';
import type { Lease } from '../../../state/threads/threadRecords.ts';
import { SqliteSaver } from '../SqliteSaver.ts';
import { StrictSerde } from '../StrictSerde.ts';

const THREAD = { configurable: { thread_id: 'run-1' } };

const METADATA: CheckpointMetadata = { source: 'loop', step: 0, parents: {} };

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  text: Annotation<string>({ reducer: (_, next) => next, default: () => '' }),
});

const Inner = new StateGraph(State)
  .addNode('inside', ({ log }) => ({ log: [`inside ${log.length}`] }))
  .addEdge(START, 'inside')
  .addEdge('inside', END)
  .compile();

/** Grows a text, calls a subgraph, goes round `rounds` times, then asks. Nothing in it depends on anything outside. */
function aGraph(saver: SqliteSaver, rounds: number) {
  return new StateGraph(State)
    .addNode('work', ({ log, text }) => ({
      log: [`work ${log.length}`],
      text: `${text}${'line '.repeat(150)}`,
    }))
    .addNode('sub', Inner)
    .addNode('ask', ({ log }) => ({ log: [`asked at ${log.length}: ${String(interrupt('ok?'))}`] }))
    .addEdge(START, 'work')
    .addEdge('work', 'sub')
    .addConditionalEdges('sub', ({ text }) => (text.length < rounds * 750 ? 'work' : 'ask'), ['work', 'ask'])
    .addEdge('ask', END)
    .compile({ checkpointer: saver });
}

async function history(saver: SqliteSaver): Promise<readonly CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  for await (const tuple of saver.list(THREAD)) tuples.push(tuple);
  return tuples;
}

/** A copy of the file, as another database in memory. */
function copyOf(db: Database): Database {
  const copy = new BetterSqlite3(db.serialize());
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  prepareConnection(copy);
  vi.restoreAllMocks();
  return copy;
}

/** What a run comes to when it goes on from a checkpoint: resumed with an answer, and forked with an update. */
async function futuresFrom(db: Database, checkpointId: string, rounds: number): Promise<unknown> {
  const config = { configurable: { ...THREAD.configurable, checkpoint_id: checkpointId } };
  const values = async (go: (graph: ReturnType<typeof aGraph>) => Promise<unknown>): Promise<unknown> => {
    const copy = copyOf(db);
    const graph = aGraph(new SqliteSaver(copy), rounds);
    await go(graph);
    const state = await graph.getState(THREAD);
    copy.close();
    return { values: state.values, next: state.next };
  };
  return [
    await values((graph) => graph.invoke(new Command({ resume: 'yes' }), config)),
    await values((graph) => graph.invoke(null, config)),
    await values(async (graph) => graph.invoke(null, await graph.updateState(config, { log: ['forked'] }))),
  ];
}

function claimed(threads: ThreadStore): Lease {
  const claim = threads.claim('run-1');
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  return claim.lease;
}

const count = (db: Database, table: string): number =>
  db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? -1;

const rowsIn = ({ rows }: { readonly rows: Readonly<Record<string, number>> }, table: string): number =>
  rows[table] ?? -1;

describe('prune', () => {
  test('after any prune a run goes on from every kept checkpoint as from the whole history', async () => {
    const policy = fc.record({
      rounds: fc.integer({ min: 1, max: 4 }),
      forks: fc.array(fc.nat(), { maxLength: 2 }),
      answered: fc.boolean(),
      keepLast: fc.integer({ min: 1, max: 4 }),
      pinned: fc.array(fc.nat(), { maxLength: 2 }),
      probe: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(policy, async ({ rounds, forks, answered, keepLast, pinned, probe }) => {
        const db = copyOf(new BetterSqlite3(':memory:'));
        const saver = new SqliteSaver(db);
        const graph = aGraph(saver, rounds);
        await graph.invoke({ text: 'x' }, THREAD);
        for (const at of forks) {
          const roots = (await history(saver)).filter(
            ({ config }) => config.configurable?.['checkpoint_ns'] === '',
          );
          await graph.invoke(
            null,
            await graph.updateState(roots[at % roots.length]?.config ?? {}, { log: [`fork ${at}`] }),
          );
        }
        if (answered) await graph.invoke(new Command({ resume: 'yes' }), THREAD);
        const before = await history(saver);
        const whole = copyOf(db);
        const idAt = (at: number): string => before[at % before.length]?.checkpoint.id ?? '';

        const result = await saver.prune('run-1', { keepLast, pinned: pinned.map(idAt) });

        const after = await history(saver);
        expect(after).toHaveLength(result.kept);
        expect(before).toHaveLength(result.kept + result.removed);
        expect(after).toEqual(
          before.filter((it) => after.some(({ checkpoint }) => checkpoint.id === it.checkpoint.id)),
        );
        expect(after[0]).toEqual(before[0]);
        const roots = after.filter(({ config }) => config.configurable?.['checkpoint_ns'] === '');
        const probed = roots[probe % roots.length]?.checkpoint.id ?? '';
        expect(await futuresFrom(db, probed, rounds)).toEqual(await futuresFrom(whole, probed, rounds));
        expect(db.pragma('foreign_key_check')).toEqual([]);
        expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
        for (const each of [db, whole]) each.close();
      }),
      { numRuns: howMany('DEVS_PRUNES', 4) },
    );
  });

  test('takes writes, channel versions and values along, but not what the journal or another thread needs', async ({
    db,
  }) => {
    const saver = new SqliteSaver(db);
    const graph = aGraph(saver, 12);
    await graph.invoke({ text: 'x' }, THREAD);
    const other = { configurable: { thread_id: 'run-2' } };
    await graph.invoke({ text: 'x' }, other);
    const turns = new CheckpointPersister(db);
    const state = {
      text: (await history(saver))[20]?.checkpoint.channel_values['text'],
      log: 'y'.repeat(9000),
    };
    const turn = {
      id: 't',
      graphId: 'run-1',
      nodeName: 'n',
      turnType: 'Thought' as const,
      state,
      taskId: 'x',
      createdAt: new Date(0),
    };
    turns.save(turn);
    const [otherBefore, stats] = [await graph.getState(other), saver.stats()];

    const result = await saver.prune('run-1', { keepLast: 2 });

    const now = saver.stats();
    expect(result.removed).toBeGreaterThan(20);
    expect(result.swept.blobs).toBe(rowsIn(stats, 'state_blobs') - rowsIn(now, 'state_blobs'));
    expect(rowsIn(now, 'checkpoint_writes')).toBeLessThan(rowsIn(stats, 'checkpoint_writes'));
    expect(rowsIn(now, 'checkpoint_blobs')).toBeLessThan(rowsIn(stats, 'checkpoint_blobs'));
    expect(turns.loadLatest('run-1')).toEqual(turn);
    expect(await graph.getState(other)).toEqual(otherBefore);
    expect((await saver.prune('run-1', { keepLast: 2 })).removed).toBe(0);
  });

  test('a waiting gate in an old branch stays decidable', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const graph = aGraph(saver, 1);
    await graph.invoke({ text: 'x' }, THREAD);
    const [gate] = await history(saver);
    const [first] = (await history(saver)).slice(-1);
    const branch = await graph.updateState(first?.config ?? {}, { text: 'y'.repeat(5000) });
    for (let step = 0; step < 3; step += 1)
      await graph.updateState({ configurable: { ...THREAD.configurable } }, { log: [`${step}`] });
    await saver.prune('run-1', { keepLast: 1 });
    const kept = await saver.getTuple(gate?.config ?? {});
    expect(kept).toEqual(gate);
    expect(await graph.invoke(new Command({ resume: 'late' }), gate?.config)).toMatchObject({
      log: expect.arrayContaining([expect.stringContaining('late')]),
    });
    expect(branch).toBeDefined();
  });

  test('keeps the checkpoint a session names as its state', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await aGraph(saver, 3).invoke({ text: 'x' }, THREAD);
    const named = (await history(saver))[4]?.checkpoint.id ?? '';
    db.prepare(
      `INSERT INTO hitl_sessions (id, task_id, graph_state_json, suspended_at, thread_id, checkpoint_id, status)
       VALUES ('s', 't', '{}', 0, 'run-1', ?, 'resumed')`,
    ).run(named);
    await saver.prune('run-1', { keepLast: 1 });
    expect((await history(saver)).map(({ checkpoint }) => checkpoint.id)).toContain(named);
  });

  test('keeps the sends that a checkpoint of an older format reads from its parent', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const old = (id: number) => ({
      v: 1,
      id: uuid6(id),
      ts: '',
      channel_values: {},
      channel_versions: { a: 1 },
      versions_seen: {},
    });
    let config: Parameters<SqliteSaver['put']>[0] = THREAD;
    for (let step = 0; step < 4; step += 1) {
      config = await saver.put(config, old(step), { source: 'loop', step, parents: {} }, {});
      await saver.putWrites(config, [[TASKS, `send ${step}`]], 'task');
    }
    const before = await saver.getTuple(config);
    expect(before?.checkpoint.channel_values[TASKS]).toEqual(['send 2']);
    expect(await saver.prune('run-1', { keepLast: 1 })).toMatchObject({ kept: 3, removed: 1 });
    expect(await saver.getTuple(config)).toEqual(before);
  });

  test('under a lease it is refused once a newer driver exists, and deletes nothing', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await aGraph(saver, 3).invoke({ text: 'x' }, THREAD);
    const threads = new ThreadStore(db, { host: aHost() });
    threads.create(aThread());
    const old = claimed(threads);
    threads.release(old);
    const lease = claimed(threads);
    const before = saver.stats().rows;
    for (const gone of [old, { threadId: 'nobody', epoch: 1 }]) {
      await expect(saver.prune('run-1', { keepLast: 1, lease: gone })).rejects.toMatchObject({
        code: 'LEASE_LOST',
      });
      expect(saver.stats().rows).toEqual(before);
    }
    expect((await saver.prune('run-1', { keepLast: 1, lease })).removed).toBeGreaterThan(3);
  });

  test('a driver that takes over while a prune is planned keeps what it goes on from', async ({
    db,
    dbPath,
  }) => {
    await aGraph(new SqliteSaver(db), 2).invoke({ text: 'x' }, THREAD);
    const threads = new ThreadStore(db, { host: aHost() });
    threads.create(aThread());
    const lease = claimed(threads);
    const other = createDatabase({ dbPath });
    const strict = new StrictSerde();
    const serde: SerializerProtocol = {
      dumpsTyped: (value) => strict.dumpsTyped(value),
      loadsTyped: async (type, bytes) => {
        if (other.open) {
          other.exec('UPDATE threads SET lease_epoch = lease_epoch + 1');
          other.close();
        }
        return await strict.loadsTyped(type, bytes);
      },
    };
    const before = count(db, 'checkpoints');
    await expect(new SqliteSaver(db, { serde }).prune('run-1', { keepLast: 1, lease })).rejects.toMatchObject(
      {
        code: 'LEASE_LOST',
      },
    );
    expect(count(db, 'checkpoints')).toBe(before);
  });

  test('a policy that cannot be kept deletes nothing', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await aGraph(saver, 2).invoke({ text: 'x' }, THREAD);
    const before = count(db, 'checkpoints');
    for (const keepLast of [0, -1, 1.5, Number.NaN]) {
      await expect(saver.prune('run-1', { keepLast })).rejects.toThrow(RangeError);
    }
    await expect(saver.prune('run-1', { keepLast: 1, pinned: ['gone'] })).rejects.toMatchObject({
      code: 'CHECKPOINT_NOT_FOUND',
    });
    expect(await saver.prune('nobody', { keepLast: 1 })).toMatchObject({ kept: 0, removed: 0 });
    expect(count(db, 'checkpoints')).toBe(before);
  });

  test('a damaged checkpoint that should stay stops the prune before it deletes', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await aGraph(saver, 4).invoke({ text: 'x' }, THREAD);
    const before = count(db, 'checkpoints');
    db.exec(
      'UPDATE state_blobs SET bytes = zeroblob(length(bytes)) WHERE blob_id = (SELECT max(blob_id) FROM state_blobs)',
    );
    await expect(saver.prune('run-1', { keepLast: 3 })).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    expect(count(db, 'checkpoints')).toBe(before);
  });

  test('a prune that would change what it keeps is taken back', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await aGraph(saver, 4).invoke({ text: 'x' }, THREAD);
    const before = saver.stats().rows;
    // Stands for a fault in the plan: deleting any checkpoint takes a channel of all of them along.
    db.exec(`CREATE TRIGGER fault AFTER DELETE ON checkpoints BEGIN
      DELETE FROM checkpoint_blobs WHERE channel = 'text'; END`);
    await expect(saver.prune('run-1', { keepLast: 2 })).rejects.toThrow(/Nothing was deleted/);
    expect(saver.stats().rows).toEqual(before);
  });

  test.for([
    [1, 'is pruned once it rests'],
    [100_000, 'is left alone'],
  ] as const)(
    'a thread that changes %i times while it is looked at %s',
    async ([changes], { db, dbPath }) => {
      await aGraph(new SqliteSaver(db), 2).invoke({ text: 'x' }, THREAD);
      const driver = new SqliteSaver(createDatabase({ dbPath }));
      const strict = new StrictSerde();
      let left: number = changes;
      let reads = 0;
      const serde: SerializerProtocol = {
        dumpsTyped: (value) => strict.dumpsTyped(value),
        loadsTyped: async (type, bytes) => {
          reads += 1;
          if (reads % 8 === 0) left -= 1;
          if (reads % 8 === 0 && left >= 0) {
            await driver.put(THREAD, { ...emptyCheckpoint(), id: uuid6(0) }, METADATA, {});
          }
          return await strict.loadsTyped(type, bytes);
        },
      };
      const pruning = new SqliteSaver(db, { serde }).prune('run-1', { keepLast: 1 });
      if (changes === 1) expect((await pruning).removed).toBeGreaterThan(5);
      else await expect(pruning).rejects.toMatchObject({ code: 'THREAD_BUSY' });
      driver.close();
    },
  );

  test('deleteThread takes the values along that nothing else uses', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const graph = aGraph(saver, 6);
    await graph.invoke({ text: 'x' }, THREAD);
    await graph.invoke({ text: 'x' }, { configurable: { thread_id: 'run-2' } });
    const state = await graph.getState({ configurable: { thread_id: 'run-2' } });
    await saver.deleteThread('run-1');
    expect(await graph.getState({ configurable: { thread_id: 'run-2' } })).toEqual(state);
    await saver.deleteThread('run-2');
    expect(count(db, 'state_blobs')).toBe(0);
  });
});

describe('stats', () => {
  test('count rows, bytes and how values are stored', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await aGraph(saver, 12).invoke({ text: 'x' }, THREAD);
    const { rows, tables, fullValues, splices, fileBytes } = saver.stats();
    expect(rows['checkpoints']).toBe(count(db, 'checkpoints'));
    expect(fullValues.count + splices.count).toBe(rows['state_blobs']);
    expect(splices.count).toBeGreaterThan(3);
    expect(splices.storedBytes).toBeLessThan(splices.valueBytes / 2);
    expect(tables['state_blobs']).toBeGreaterThan(0);
    expect(fileBytes).toBeGreaterThan(tables['state_blobs'] ?? 0);
  });
});
