import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { HITL_ENTROPY_THRESHOLD } from '../../config/defaults.ts';
import { repeating, twoSteps } from '../../engine/__tests__/ownGraph.ts';
import { durable } from '../../engine/app/durable.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { GraphSuspendedSignal } from '../../engine/gates/GraphSuspendedSignal.ts';
import { EventBus } from '../../events/events.ts';
import { Child } from '../../state/__tests__/Child.ts';
import { leaseFence } from '../../state/commits/immediateTransaction.ts';
import { EventStore } from '../../state/events/EventStore.ts';
import { FailureGateStore } from '../../state/guards/FailureGateStore.ts';
import { invokeGuarded } from '../graph-runner.ts';
import { HumanInTheLoopManager } from '../hitl.ts';
import {
  type GateEvaluationResult,
  TaskFailureGate,
  type TaskFailureGateOptions,
} from '../TaskFailureGate.ts';

const EVALUATE = new URL('./evaluateGate.child.ts', import.meta.url);

/** A gate with its real manager, watched: a session of a stub would break the foreign key. */
function aGate(db: Database, options: Partial<TaskFailureGateOptions> = {}) {
  const events = new EventBus();
  const heard: string[] = [];
  events.onAny((name) => heard.push(name));
  const manager = new HumanInTheLoopManager(db, { events });
  const pause = vi.spyOn(manager, 'pause');
  return { gate: new TaskFailureGate({ db, manager, events, ...options }), manager, pause, heard };
}

const count = (db: Database, table: 'hitl_sessions' | 'hitl_failure_gates' | 'events'): unknown =>
  db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

const ABOVE = { entropyScore: 0.8, taskId: 't1', threshold: 0.75 };

describe('TaskFailureGate', () => {
  test('evaluate() does NOT trigger HITL below entropy threshold', async ({ db }) => {
    const { gate, pause } = aGate(db);
    expect(await gate.evaluate({ entropyScore: 0.4, taskId: 't1', threshold: 0.75 })).toEqual({
      triggered: false,
    });
    expect(pause).not.toHaveBeenCalled();
    expect(count(db, 'hitl_failure_gates')).toBe(0);
  });

  test('evaluate() triggers HITL when entropyScore >= threshold', async ({ db }) => {
    const { gate, manager, pause } = aGate(db);
    const result = await gate.evaluate(ABOVE);
    expect(result).toEqual({ triggered: true, sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(manager.listPendingSessions()).toMatchObject([{ id: result.triggered && result.sessionId }]);
    expect(pause).toHaveBeenCalledTimes(1);
    expect(pause.mock.calls[0]?.[1]).toBe('t1');
  });

  test('evaluate() triggers HITL at exactly the threshold boundary', async ({ db }) => {
    const { gate } = aGate(db);
    expect((await gate.evaluate({ entropyScore: 0.75, taskId: 't1', threshold: 0.75 })).triggered).toBe(true);
  });

  test('evaluate() persists a hitl_failure_gates record on trigger', async ({ db }) => {
    const { gate } = aGate(db, { now: () => 1_700_000_000_000 });
    const result = await gate.evaluate(ABOVE);
    expect(db.prepare('SELECT * FROM hitl_failure_gates').all()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        task_id: 't1',
        entropy_score: 0.8,
        triggered_at: 1_700_000_000_000,
        session_id: result.triggered && result.sessionId,
        reason: 'entropy_limit',
      },
    ]);
  });

  test('evaluate() does NOT create duplicate gates for the same taskId', async ({ db }) => {
    const { gate, pause, heard } = aGate(db);
    const first = await gate.evaluate(ABOVE);
    expect(await gate.evaluate({ ...ABOVE, entropyScore: 0.99 })).toEqual(first);
    expect(pause).toHaveBeenCalledTimes(1);
    expect(count(db, 'hitl_failure_gates')).toBe(1);
    expect(heard).toEqual(['HITL_SESSION_OPENED', 'FAILURE_GATE_OPENED', 'GUARD_TRIPPED']);
  });

  test('getGateStatus(taskId) returns correct status', ({ db }) => {
    const { gate, manager } = aGate(db);
    const { id: sessionId } = manager.pause(undefined, 't1');
    db.prepare(
      'INSERT INTO hitl_failure_gates (id, task_id, entropy_score, triggered_at, session_id) VALUES (?, ?, ?, ?, ?)',
    ).run('g-1', 't1', 0.9, 1, sessionId);
    expect(gate.getGateStatus('t1')).toEqual({ triggered: true, sessionId, reason: 'entropy_limit' });
    expect(gate.getGateStatus('t2')).toBeNull();
  });

  test('full entropy-limit flow suspends LangGraph execution', async ({ db }) => {
    const app = durable(
      twoSteps(() => repeating({ log: ['first'] }, 0.9)),
      { db },
    );
    const { graph } = app;
    const { store } = internalsOf(app);
    const run = invokeGuarded(graph, {}, { configurable: { thread_id: 'run' } });
    const signal: unknown = await run.catch((thrown: unknown) => thrown);
    expect(signal).toBeInstanceOf(GraphSuspendedSignal);
    const { taskId, sessionId } = signal as GraphSuspendedSignal;
    expect(store.manager.listPendingSessions()).toMatchObject([
      { id: sessionId, taskId, kind: 'task_failure' },
    ]);
    expect(count(db, 'hitl_failure_gates')).toBe(1);
  });
});

describe('the threshold', () => {
  test('is 0.75 unless the gate or the call says otherwise', async ({ db }) => {
    expect(HITL_ENTROPY_THRESHOLD).toBe(0.75);
    const usual = aGate(db).gate;
    expect((await usual.evaluate({ entropyScore: 0.74, taskId: 't1' })).triggered).toBe(false);
    expect((await usual.evaluate({ entropyScore: 0.75, taskId: 't1' })).triggered).toBe(true);
    const strict = aGate(db, { defaultThreshold: 0.1 }).gate;
    expect((await strict.evaluate({ entropyScore: 0.2, taskId: 't2' })).triggered).toBe(true);
    expect((await strict.evaluate({ entropyScore: 0.2, taskId: 't3', threshold: 0.3 })).triggered).toBe(
      false,
    );
  });

  test('and the score must lie in [0, 1]', async ({ db }) => {
    const { gate, manager } = aGate(db);
    for (const bad of [Number.NaN, -0.01, 1.01, Number.POSITIVE_INFINITY]) {
      await expect(gate.evaluate({ entropyScore: bad, taskId: 't1' })).rejects.toThrow(RangeError);
      await expect(gate.evaluate({ entropyScore: 0.9, taskId: 't1', threshold: bad })).rejects.toThrow(
        RangeError,
      );
      expect(() => gate.open({ taskId: 't1', reason: 'pivots_exhausted', entropyScore: bad })).toThrow(
        RangeError,
      );
      expect(() => new TaskFailureGate({ db, manager, defaultThreshold: bad })).toThrow(RangeError);
    }
    expect(count(db, 'hitl_sessions')).toBe(0);
  });

  test('reaches both ends of its range', async ({ db }) => {
    const { gate } = aGate(db);
    expect((await gate.evaluate({ entropyScore: 0, taskId: 't1', threshold: 0 })).triggered).toBe(true);
    expect((await gate.evaluate({ entropyScore: 1, taskId: 't2', threshold: 1 })).triggered).toBe(true);
  });
});

describe('one transaction', () => {
  test('refuses a pause that returns a promise, and nothing is written', async ({ db }) => {
    const { gate, manager, pause, heard } = aGate(db);
    const real = HumanInTheLoopManager.prototype.pause.bind(manager);
    const asynchronous = ((...call: Parameters<typeof real>) => Promise.resolve(real(...call))) as unknown;
    pause.mockImplementation(asynchronous as typeof real);
    await expect(gate.evaluate(ABOVE)).rejects.toThrow(TypeError);
    expect([count(db, 'hitl_sessions'), count(db, 'hitl_failure_gates'), count(db, 'events')]).toEqual([
      0, 0, 0,
    ]);
    expect(heard).toEqual([]);
    expect(db.inTransaction).toBe(false);
  });

  test('refuses a pause that returns no session', async ({ db }) => {
    const { gate, pause } = aGate(db);
    pause.mockImplementation((() => ({})) as unknown as HumanInTheLoopManager['pause']);
    await expect(gate.evaluate(ABOVE)).rejects.toThrow(TypeError);
    expect(count(db, 'hitl_failure_gates')).toBe(0);
  });

  test('leaves no session behind when the gate cannot be written', async ({ db }) => {
    const { gate } = aGate(db, { newId: () => null as unknown as string });
    await expect(gate.evaluate(ABOVE)).rejects.toThrow(/NOT NULL/);
    expect(count(db, 'hitl_sessions')).toBe(0);
  });

  test('refuses a replaced driver', async ({ db }) => {
    const { gate } = aGate(db);
    const fence = leaseFence(db, { threadId: 'run-1', epoch: 1 });
    await expect(gate.evaluate({ ...ABOVE, fence })).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(count(db, 'hitl_sessions')).toBe(0);
  });

  test('of 8 processes that evaluate one task, all get the one session of the one gate', async ({
    db,
    dbPath,
  }) => {
    const children = Array.from({ length: 8 }, () => new Child(EVALUATE, dbPath, 't1'));
    onTestFinished(async () => {
      await Promise.all(children.map((child) => child.kill()));
    });
    await Promise.all(children.map((child) => child.read()));
    for (const child of children) child.send('evaluate');
    const results = await Promise.all(children.map((child) => child.read<GateEvaluationResult>()));
    const sessionId = new FailureGateStore(db).findByTask('t1')?.sessionId;
    expect(results).toEqual(children.map(() => ({ triggered: true, sessionId })));
    expect([count(db, 'hitl_sessions'), count(db, 'hitl_failure_gates')]).toEqual([1, 1]);
  });
});

describe('a gate', () => {
  test('opens for another reason than a score, with evidence, for a run', ({ db }) => {
    const { gate, manager } = aGate(db);
    const evidence = { pivots: 2 };
    const status = gate.open({ taskId: 't1', threadId: 'run-1', reason: 'pivots_exhausted', evidence });
    expect(gate.getGateStatus('t1')).toEqual(status);
    expect(status.reason).toBe('pivots_exhausted');
    expect(manager.listPendingSessions()).toMatchObject([
      { id: status.sessionId, threadId: 'run-1', evidence },
    ]);
    expect(new FailureGateStore(db).findByTask('t1')?.entropyScore).toBe(1);
    expect(new EventStore(db).list('run-1').map(({ name }) => name)).toEqual([
      'HITL_SESSION_OPENED',
      'FAILURE_GATE_OPENED',
      'GUARD_TRIPPED',
    ]);
    expect(gate.open({ taskId: 't1', reason: 'entropy_limit' })).toEqual(status);
  });

  test('re-arms once it was answered', async ({ db }) => {
    const { gate, manager } = aGate(db);
    const first = await gate.evaluate(ABOVE);
    if (!first.triggered) throw new Error('Expected the gate to trip.');
    manager.resume(first.sessionId);
    expect(gate.getGateStatus('t1')).toBeNull();
    const second = await gate.evaluate(ABOVE);
    expect(second).toMatchObject({ triggered: true });
    expect(second).not.toEqual(first);
    expect(new FailureGateStore(db).historyOf('t1')).toMatchObject([
      { sessionId: first.sessionId, resolution: 'resumed' },
    ]);
  });
});

describe('GraphSuspendedSignal', () => {
  test('is no Error and no bubble-up, and names task and session', () => {
    const signal = new GraphSuspendedSignal('t1', 's-1');
    expect(signal).not.toBeInstanceOf(Error);
    expect('is_bubble_up' in signal).toBe(false);
    expect(signal).toMatchObject({ kind: 'graph-suspended', taskId: 't1', sessionId: 's-1' });
  });
});
