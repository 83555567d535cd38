import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { notThroughRuns, ofOneFile } from '../../../../test/support/runs/where.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { DevsError } from '../../../errors/DevsError.ts';
import { localHost } from '../../../state/threads/hostIdentity.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
import { pendingStop, recordStop } from '../stopRequests.ts';

const State = Annotation.Root({ rounds: Annotation<number>() });
const ada = { kind: 'human', id: 'ada' } as const;

/** A graph that works in rounds of 50 ms until it has done `until` of them; a gate stands before the last node. */
function rounds(db: Database, until: number) {
  const builder = new StateGraph(State)
    .addNode('work', async ({ rounds: done }) => ({ rounds: await step('round', () => sleep(50, done + 1)) }))
    .addNode('finish', () => ({}))
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ rounds: done }) => (done < until ? 'work' : 'finish'), ['work', 'finish'])
    .addEdge('finish', END);
  return durable(builder, { db, gates: { finish: (state) => state.rounds }, guards: { maxDepth: 100 } });
}

describe('requests to a run', () => {
  test('a pause recorded by another connection stops the driver; driving again goes on', async ({
    db,
    dbPath,
  }) => {
    const app = rounds(db, 40);
    const other = rounds(createDatabase({ dbPath }), 40);
    const driving = app.run('r', { rounds: 0 });
    while (internalsOf(other).store.threads.driverOf('r') === null) await sleep(5);
    await other.pause('r');

    expect(await driving).toMatchObject({ status: 'paused', reason: 'pause' });
    expect(internalsOf(other).store.threads.require('r')).toMatchObject({
      status: 'paused',
      leaseOwner: null,
    });
    const { rounds: done = 0 } = (await other.values('r')) ?? {};
    expect(done).toBeLessThan(40);
    expect(await other.run('r')).toMatchObject({ status: 'waiting', values: { rounds: 40 } });
    internalsOf(other).store.db.close();
  });

  test('a cancelled run ends, and stays ended', async ({ db, dbPath }) => {
    const app = rounds(db, 40);
    const other = rounds(createDatabase({ dbPath }), 40);
    const driving = app.run('r', { rounds: 0 });
    while (internalsOf(other).store.threads.driverOf('r') === null) await sleep(5);
    await other.cancel('r');
    expect(await driving).toMatchObject({ status: 'cancelled' });
    expect(await other.run('r')).toMatchObject({ status: 'cancelled' });
    internalsOf(other).store.db.close();
  });

  test('a run that nobody drives is cancelled at once, with its question', async ({ db }) => {
    const app = rounds(db, 1);
    const gate = only((await app.run('r', { rounds: 0 })).gates);
    await app.cancel('r');
    expect(internalsOf(app).store.threads.require('r')).toMatchObject({
      status: 'cancelled',
      reason: 'cancelled by request',
      leaseOwner: null,
    });
    expect(await app.gates('r')).toEqual([]);
    await expect(app.decide(gate, { approved: true, by: ada })).rejects.toMatchObject({ code: 'GATE_STALE' });
    expect(
      internalsOf(app)
        .store.log.list('r', { afterSeq: 0 })
        .filter(({ name }) => name === 'RUN_FINISHED'),
    ).toHaveLength(1);
    expect(internalsOf(app).store.threads.signals.pending('r')).toEqual([]);
    await app.cancel('r');
    expect(await app.run('r')).toMatchObject({ status: 'cancelled', reason: 'cancelled by request' });
  });

  test(
    'the log keeps who asked for what, once, and nothing that changed nothing',
    notThroughRuns('watches its own store'),
    async ({ db }) => {
      const app = rounds(db, 1);
      const { store } = internalsOf(app);
      const asked = () =>
        store.log
          .list('r', { afterSeq: 0 })
          .flatMap(({ name, payload }) => (name === 'STOP_REQUESTED' ? [payload] : []));
      await app.run('r', { rounds: 0 });
      await app.pause('r');
      await app.pause('r', { by: ada });
      expect(pendingStop('r', store)).toMatchObject({ stop: 'pause', principal: null });
      await app.pause('r', { abort: true, by: { kind: 'policy', id: 'night' } });
      expect(pendingStop('r', store)).toMatchObject({ stop: 'abort', principal: 'policy:night' });
      const pauses = [
        { stop: 'pause', principal: 'human:ada' },
        { stop: 'abort', principal: 'policy:night' },
      ];
      expect(asked()).toEqual(pauses);
      // Read twice by a driver that was killed in between.
      for (let n = 0; n < 2; n += 1) recordStop('r', 'p', { kind: 'pause', by: ada }, store);
      expect(asked()).toEqual([...pauses, pauses[0]]);
      for (let n = 0; n < 2; n += 1) await app.cancel('r', { by: ada });
      expect(asked()).toEqual([...pauses, pauses[0], { stop: 'cancel', principal: 'human:ada' }]);
      await app.pause('r', { by: ada });
      expect(asked()).toHaveLength(4);
      expect(pendingStop('r', store)).toBeNull();
    },
  );

  test('a run that has ended has nothing to stop: the caller is told, and nothing is recorded', async ({
    db,
  }) => {
    const app = rounds(db, 1);
    const { store } = internalsOf(app);
    const rows = () => [
      store.log.list('r').map(({ name }) => name),
      db.prepare("SELECT count(*) FROM signals WHERE kind IN ('pause', 'cancel')").pluck().get(),
    ];
    const gate = only((await app.run('r', { rounds: 0 })).gates);
    expect(await app.pause('r')).toEqual({ isAccepted: true, status: 'waiting' });
    await app.decide(gate, { approved: true, by: ada });
    await app.run('r');
    const before = rows();
    const refused = { isAccepted: false, status: 'completed' };
    expect(await app.pause('r', { by: ada })).toEqual(refused);
    expect(await app.pause('r', { abort: true, by: ada })).toEqual(refused);
    expect(await app.cancel('r', { by: ada })).toEqual(refused);
    expect(rows()).toEqual(before);

    await app.run('s', { rounds: 0 });
    expect(await app.cancel('s')).toEqual({ isAccepted: true, status: 'cancelled' });
    expect(await app.cancel('s')).toEqual({ isAccepted: false, status: 'cancelled' });
    expect(await app.pause('s')).toEqual({ isAccepted: false, status: 'cancelled' });
  });

  test('a failed run has nothing to pause, and can be cancelled', async ({ db }) => {
    const builder = new StateGraph(State)
      .addNode('work', () => {
        throw new Error('no');
      })
      .addEdge(START, 'work')
      .addEdge('work', END);
    const app = durable(builder, { db });
    await app.run('r', { rounds: 0 }, { throwOnFailure: false });
    expect(await app.pause('r', { by: ada })).toEqual({ isAccepted: false, status: 'failed' });
    expect(await app.cancel('r')).toEqual({ isAccepted: true, status: 'cancelled' });
  });

  test('a turn that has ended, or is not known, is not cancelled, and the next one is not stopped', async ({
    db,
  }) => {
    const app = rounds(db, 1);
    const done = only((await app.run('r', { rounds: 0 }, { turn: 't-1' })).gates);
    await app.decide(done, { approved: true, by: ada });
    await app.run('r');
    expect(await app.cancel('r')).toEqual({ isAccepted: false, status: 'completed' });
    expect(await app.cancel('r', { turn: 't-1' })).toEqual({ isAccepted: false, status: 'completed' });
    expect(await app.run('r', { rounds: 0 }, { turn: 't-2' })).toMatchObject({ status: 'waiting' });
    await app.start('r', { rounds: 0 }, { turn: 't-3', multitaskStrategy: 'enqueue' });
    for (const turn of ['t-1', 'unknown'])
      expect(await app.cancel('r', { turn })).toEqual({ isAccepted: false, status: 'waiting' });
    expect(await app.cancel('r', { turn: 't-3' })).toEqual({ isAccepted: true, status: 'waiting' });
    expect(await app.cancel('r', { turn: 't-3' })).toEqual({ isAccepted: false, status: 'waiting' });
    expect(await app.cancel('r', { turn: 't-2' })).toEqual({ isAccepted: true, status: 'cancelled' });
  });

  test('an agent, and who is nobody, cannot stop a run', async ({ db }) => {
    const app = rounds(db, 1);
    await app.run('r', { rounds: 0 });
    const agent = { kind: 'agent', id: 'coder' } as const;
    for (const stop of [app.pause('r', { by: agent }), app.cancel('r', { by: agent })])
      await expect(stop).rejects.toMatchObject({ code: 'AGENT_MAY_NOT_DECIDE' });
    await expect(app.cancel('r', { by: { kind: 'human', id: '' } })).rejects.toThrow(TypeError);
    await expect(app.cancel('r', { By: ada } as object)).rejects.toThrow('Did you mean `by`?');
    expect(internalsOf(app).store.threads.signals.pending('r', ['pause', 'cancel'])).toEqual([]);
    expect(internalsOf(app).store.threads.require('r').status).toBe('waiting');
  });

  test('a driver that waits for an answer learns of it', async ({ db, dbPath }) => {
    const app = rounds(db, 1);
    const other = rounds(createDatabase({ dbPath }), 1);
    const driving = app.run('r', { rounds: 0 }, { wait: true });
    const asked = () => other.gates('r').catch(() => []); // it is recorded first
    while ((await asked()).length === 0 || internalsOf(other).store.threads.driverOf('r') !== null)
      await sleep(20);
    await other.cancel('r');
    expect(internalsOf(other).store.threads.require('r').status).toBe('cancelled');
    expect(await driving).toMatchObject({ status: 'cancelled' });
    internalsOf(other).store.db.close();
  });

  test('a waiting driver takes up a decision of another process', async ({ db, dbPath }) => {
    const app = rounds(db, 1);
    const other = rounds(createDatabase({ dbPath }), 1);
    const driving = app.run('r', { rounds: 0 }, { wait: true });
    while ((internalsOf(other).store.threads.get('r')?.status ?? '') !== 'waiting') await sleep(20);
    expect(internalsOf(other).store.threads.require('r').leaseOwner).toBeNull();
    await other.decide(only(await other.gates('r')), { approved: true, by: ada });
    expect(await driving).toMatchObject({ status: 'completed' });
    internalsOf(other).store.db.close();
  });

  test('a waiting driver leaves when it is asked to', async ({ db }) => {
    const stop = new AbortController();
    const app = rounds(db, 1);
    const driving = app.run('r', { rounds: 0 }, { wait: true, drain: stop.signal });
    while (internalsOf(app).store.threads.get('r')?.status !== 'waiting') await sleep(20);
    stop.abort();
    expect(await driving).toMatchObject({ status: 'waiting' });
  });

  test('an abort reaches the call in flight, which is made again when the run goes on', async ({ db }) => {
    const begun: number[] = [];
    const builder = new StateGraph(State)
      .addNode('work', async () => ({
        rounds: await step('call', async ({ attempt, signal }) => {
          begun.push(attempt);
          return attempt === 1 ? sleep(60_000, 0, { signal }) : 7;
        }),
      }))
      .addEdge(START, 'work')
      .addEdge('work', END);
    const app = durable(builder, { db });
    const abort = new AbortController();
    const driving = app.run('r', { rounds: 0 }, { signal: abort.signal });
    while (begun.length === 0) await sleep(10);
    abort.abort();
    await expect(driving).rejects.toThrow('This operation was aborted');
    expect(internalsOf(app).store.threads.require('r')).toMatchObject({ status: 'paused', leaseOwner: null });
    expect(
      internalsOf(app)
        .store.log.list('r')
        .map(({ name }) => name),
    ).not.toContain('NODE_FAILED');
    expect(await app.run('r')).toMatchObject({ status: 'completed', values: { rounds: 7 } });
    expect(begun).toEqual([1, 2]);
  });

  test('a visit of many steps may lose its driver after each of them without being given up', async ({
    db,
  }) => {
    const names = Array.from({ length: 8 }, (_, index) => `step-${index}`);
    let deaths = 0;
    const builder = new StateGraph(State)
      .addNode('work', async () => {
        for (const [index, name] of names.entries()) {
          await step(name, () => index);
          if (deaths === index && index < 7) {
            deaths += 1;
            throw new DevsError('Gone.', { code: 'STATE_IO', remedy: 'Come back.' });
          }
        }
        return { rounds: names.length };
      })
      .addEdge(START, 'work')
      .addEdge('work', END);
    const app = durable(builder, { db });
    await internalsOf(app).recordRun({ threadId: 'r', input: { rounds: 0 } });
    const leaveAsADeadDriver = db.prepare("UPDATE threads SET lease_owner = '1:gone', lease_boot_id = ?");
    const bootId = localHost().bootId;
    for (const _ of names.slice(1)) {
      await expect(app.run('r')).rejects.toMatchObject({ code: 'STATE_IO' });
      leaveAsADeadDriver.run(bootId);
    }
    expect(await app.run('r')).toMatchObject({ status: 'completed', values: { rounds: 8 } });
  });

  test('a branch that was lost on its way to its question asks it before the run waits', async ({ db }) => {
    const builder = new StateGraph(State)
      .addNode('left', () => ({}))
      .addNode('right', () => ({}))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge('left', END)
      .addEdge('right', END);
    const show = ({ rounds: done }: typeof State.State) => done;
    const open = () => durable(builder, { db, gates: { left: show, right: show } });
    expect((await open().run('r', { rounds: 0 })).gates).toHaveLength(2);
    const asked = "FROM checkpoint_writes WHERE channel = '__interrupt__'";
    const lost =
      db.prepare<[], object>(`SELECT checkpoint_id AS at, task_id AS task ${asked} LIMIT 1`).get() ?? {};
    db.prepare('DELETE FROM checkpoint_writes WHERE task_id = @task').run(lost);
    // As if it had never been written.
    const count = 'SELECT count(*) FROM checkpoint_writes WHERE checkpoint_id = @at';
    db.prepare(`UPDATE checkpoints SET writes = (${count}) WHERE checkpoint_id = @at`).run(lost);

    const app = open();
    const { status, gates } = await app.run('r');
    expect([status, gates.length]).toEqual(['waiting', 2]);
    expect(db.prepare(`SELECT count(*) ${asked}`).pluck().get()).toBe(2);
    for (const gate of gates) await app.decide(gate, { approved: true, by: ada });
    expect(await app.run('r')).toMatchObject({ status: 'completed' });
  });

  test(
    'a file whose decisions were edited is refused at the next open',
    ofOneFile('plants rows'),
    async ({ db }) => {
      const app = rounds(db, 1);
      const { gates } = await app.run('r', { rounds: 0 });
      await app.decide(only(gates), { approved: false, feedback: 'no', by: ada });
      db.prepare(`UPDATE hitl_sessions SET decision_json = '{"approved":true}'`).run();
      expect(() => rounds(db, 1)).toThrow(expect.objectContaining({ code: 'STATE_CORRUPT' }));
    },
  );
});
