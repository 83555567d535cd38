import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { HitlSessionStore } from '../gates/HitlSessionStore.ts';
import { FailureGateStore } from '../guards/FailureGateStore.ts';

const GATE = {
  id: 'g-1',
  taskId: 't1',
  entropyScore: 0.8,
  triggeredAt: 1,
  sessionId: 's-1',
  reason: 'entropy_limit',
};

const SESSION = {
  id: 's-1',
  taskId: 't1',
  kind: 'task_failure',
  threadId: null,
  graphStateJson: '{}',
  artifactHash: null,
} as const;

describe('FailureGateStore', () => {
  test('holds one gate per task', ({ db }) => {
    new HitlSessionStore(db).insertUnbound(SESSION);
    const gates = new FailureGateStore(db);
    gates.insert(GATE);
    expect(gates.findByTask('t1')).toEqual(GATE);
    expect(gates.findByTask('t2')).toBeNull();
    expect(() => gates.insert({ ...GATE, id: 'g-2' })).toThrow(/UNIQUE/);
  });

  test('refuses a gate without its session, and a score outside [0, 1]', ({ db }) => {
    const gates = new FailureGateStore(db);
    expect(() => gates.insert(GATE)).toThrow(/FOREIGN KEY/);
    new HitlSessionStore(db).insertUnbound(SESSION);
    expect(() => gates.insert({ ...GATE, entropyScore: 1.5 })).toThrow(/CHECK/);
  });

  test('moves an answered gate to history, so that the task can trip again', ({ db }) => {
    new HitlSessionStore(db).insertUnbound(SESSION);
    const gates = new FailureGateStore(db);
    gates.insert(GATE);
    expect(gates.archive('t1', { resolution: 'retry', resolvedAt: 5 })).toBe(true);
    expect(gates.findByTask('t1')).toBeNull();
    expect(gates.historyOf('t1')).toEqual([{ ...GATE, resolution: 'retry', resolvedAt: 5 }]);
    gates.insert({ ...GATE, id: 'g-2' });
    expect(gates.findByTask('t1')?.id).toBe('g-2');
    expect(gates.archive('t2', { resolution: 'retry', resolvedAt: 5 })).toBe(false);
  });
});
