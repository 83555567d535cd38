import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { EventBus } from '../../events/events.ts';
import { Child } from '../../state/__tests__/Child.ts';
import { leaseFence } from '../../state/commits/immediateTransaction.ts';
import { EventStore } from '../../state/events/EventStore.ts';
import { DecisionLog } from '../../state/gates/DecisionLog.ts';
import { HitlSessionStore, type InterruptedQuestion } from '../../state/gates/HitlSessionStore.ts';
import { FailureGateStore } from '../../state/guards/FailureGateStore.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import type { Policies } from '../../state/threads/threadRecords.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import { HitlSessionNotFoundError, HumanInTheLoopManager, type SessionDecision } from '../hitl.ts';
import { TaskFailureGate } from '../TaskFailureGate.ts';
import { createInitialState } from '../types.ts';
import { ARTIFACT_HASH, aRunWithGate, everyRow } from './aRunWithGate.ts';

const DECIDE = new URL('./decide.child.ts', import.meta.url);

const HUMAN = { kind: 'human', id: 'reviewer-1' } as const;
const APPROVE: SessionDecision = { artifactHash: ARTIFACT_HASH, answer: { approved: true }, by: HUMAN };

const withCode = (code: string) => expect.objectContaining({ code });

function aState() {
  return createInitialState({
    projectId: 'p-1',
    name: 'Sluggish',
    description: 'A test',
    status: 'implementing',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  });
}

function aManager(db: Database) {
  const events = new EventBus();
  const heard: string[] = [];
  events.onAny((name) => heard.push(name));
  let now = 0;
  return { manager: new HumanInTheLoopManager(db, { events, now: () => ++now }), heard };
}

describe('pause', () => {
  test('records a session with the state it was opened in, and says so', ({ db }) => {
    const { manager, heard } = aManager(db);
    const session = manager.pause(aState(), 't1');
    expect(session).toMatchObject({
      taskId: 't1',
      kind: 'task_failure',
      status: 'awaiting_approval',
      threadId: null,
    });
    expect(manager.listPendingSessions()).toEqual([session]);
    expect(heard).toEqual(['HITL_SESSION_OPENED']);
  });

  test('of a task that already waits returns the first session', ({ db }) => {
    const { manager, heard } = aManager(db);
    const first = manager.pause(undefined, 't1');
    expect(manager.pause(aState(), 't1')).toEqual(first);
    expect(manager.pause(undefined, 't1', { kind: 'budget' }).id).not.toBe(first.id);
    expect(heard).toHaveLength(2);
  });

  test('inside a transaction is announced when that is committed, and not at all when it is rolled back', ({
    db,
  }) => {
    const { manager, heard } = aManager(db);
    const failing = db.transaction(() => {
      manager.pause(undefined, 't1');
      throw new Error('no');
    });
    expect(() => failing.immediate()).toThrow('no');
    manager.announce();
    expect([heard, manager.listPendingSessions()]).toEqual([[], []]);

    db.transaction(() => {
      manager.pause(undefined, 't1');
      expect(heard).toEqual([]);
    }).immediate();
    manager.announce();
    expect(heard).toEqual(['HITL_SESSION_OPENED']);
  });

  test('takes kind, id, evidence and run from its options; a run keeps its own state', ({ db }) => {
    const { manager } = aManager(db);
    const evidence = { entropyScore: 0.9 };
    const session = manager.pause(aState(), 't1', {
      kind: 'budget',
      threadId: 'run-1',
      sessionId: 's-1',
      evidence,
    });
    expect(session).toMatchObject({
      id: 's-1',
      kind: 'budget',
      threadId: 'run-1',
      evidence,
      interruptId: null,
    });
    expect(session.artifactHash).toMatch(/^[0-9a-f]{64}$/);
    expect(new HitlSessionStore(db).graphStateJson('s-1')).toBe('{}');
    expect(manager.pause(undefined, 't2', { artifactHash: ARTIFACT_HASH }).artifactHash).toBe(ARTIFACT_HASH);
  });

  test('refuses an id that is taken, no task id, a state that is no plain JSON and a replaced driver', ({
    db,
  }) => {
    const { manager } = aManager(db);
    manager.pause(undefined, 't1', { sessionId: 's-1' });
    expect(() => manager.pause(undefined, 't2', { sessionId: 's-1' })).toThrow(RangeError);
    expect(() => manager.pause(undefined, '')).toThrow(TypeError);
    expect(() => manager.pause({ ...aState(), progressStep: Number.NaN }, 't2')).toThrow(
      withCode('VALUE_NOT_STORABLE'),
    );
    const fence = leaseFence(db, { threadId: 'run-1', epoch: 1 });
    expect(() => manager.pause(undefined, 't2', { fence })).toThrow(withCode('LEASE_LOST'));
    expect(manager.listPendingSessions()).toHaveLength(1);
  });

  test('keeps state and evidence as they were given', ({ db }) => {
    const { manager } = aManager(db);
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const state = { ...aState(), activeTaskId: token };
    const { id, artifactHash } = manager.pause(state, 't1', { evidence: { last: token } });
    expect(new HitlSessionStore(db).require(id).evidence).toEqual({ last: token });
    expect(artifactHash).toBe(hashOf({ last: token }));
    expect(manager.resume(id)).toEqual(state);
  });
});

describe('resume', () => {
  test('returns the state after a restart, and closes the session', ({ db, dbPath }) => {
    const { id } = aManager(db).manager.pause(aState(), 't1');
    const reopened = createDatabase({ dbPath });
    onTestFinished(() => {
      reopened.close();
    });
    const { manager } = aManager(reopened);
    expect(manager.resume(id)).toEqual(aState());
    expect(manager.listPendingSessions()).toEqual([]);
    expect(new HitlSessionStore(db).require(id)).toMatchObject({
      status: 'resumed',
      resumedAt: expect.any(Number),
    });
  });

  test('of a session without a state returns an empty one', ({ db }) => {
    const { manager } = aManager(db);
    expect(manager.resume(manager.pause(undefined, 't1').id)).toEqual({});
  });

  test('happens once', ({ db }) => {
    const { manager } = aManager(db);
    const { id } = manager.pause(undefined, 't1');
    manager.resume(id);
    expect(() => manager.resume(id)).toThrow(withCode('GATE_ALREADY_DECIDED'));
  });

  test('names an id it does not know', ({ db }) => {
    const resume = () => aManager(db).manager.resume('nobody');
    expect(resume).toThrow(HitlSessionNotFoundError);
    expect(resume).toThrow(/nobody/);
    expect(resume).toThrow(withCode('GATE_NOT_FOUND'));
  });

  test('refuses a session that belongs to a run', ({ db }) => {
    const session = aRunWithGate(db);
    expect(() => aManager(db).manager.resume(session.id)).toThrow(withCode('USE_DECIDE'));
    expect(new HitlSessionStore(db).require(session.id).status).toBe('awaiting_approval');
  });
});

describe('listPendingSessions', () => {
  test('lists every kind, oldest first', ({ db }) => {
    const { manager } = aManager(db);
    for (const taskId of ['c', 'a', 'b']) manager.pause(undefined, taskId);
    expect(manager.listPendingSessions().map(({ taskId }) => taskId)).toEqual(['c', 'a', 'b']);
  });
});

describe('decide', () => {
  test('records the answer, the line of the log, the wake and the event together', ({ db }) => {
    const session = aRunWithGate(db);
    const { manager, heard } = aManager(db);
    const decided = manager.decide(session.id, APPROVE);
    expect(decided).toMatchObject({
      status: 'decided',
      decision: { approved: true },
      principal: HUMAN,
      decidedAt: 1,
    });
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    expect(new ThreadStore(db).require('run-1').wakeSeq).toBe(1);
    expect(new ThreadStore(db).signals.pending('run-1')).toMatchObject([
      { id: `decision:${session.id}`, kind: 'decision', payload: { sessionId: session.id } },
    ]);
    expect(heard).toEqual(['HITL_SESSION_DECIDED']);
    expect(new EventStore(db).list('run-1')).toMatchObject([
      { payload: { sessionId: session.id, kind: 'design_approval', principal: 'human:reviewer-1' } },
    ]);
  });

  test('accepts the first digits of the hash, at least eight', ({ db }) => {
    const session = aRunWithGate(db);
    const { manager } = aManager(db);
    const prefix = ARTIFACT_HASH.slice(0, 8).toUpperCase();
    for (const artifactHash of [
      ARTIFACT_HASH.slice(0, 7),
      '',
      `${ARTIFACT_HASH}0`,
      '%'.repeat(8),
      '.'.repeat(64),
    ]) {
      expect(() => manager.decide(session.id, { ...APPROVE, artifactHash })).toThrow(withCode('GATE_STALE'));
    }
    expect(manager.decide(session.id, { ...APPROVE, artifactHash: prefix }).status).toBe('decided');
  });

  test('takes a policy only where the run declared it', ({ db }) => {
    const policy = { kind: 'policy', id: 'gates.design=auto' } as const;
    const gates = (declared: Policies, overrides: Partial<InterruptedQuestion> = {}) =>
      aRunWithGate(db, { threadId: `run-${JSON.stringify([declared, overrides])}`, ...overrides }, declared);
    const { manager } = aManager(db);
    const decide = (id: string) => manager.decide(id, { ...APPROVE, by: policy });

    expect(decide(gates({ gates: { design: 'auto' } }).id).principal).toEqual(policy);
    expect(decide(gates({ gates: { dag: 'auto' } }, { kind: 'dag_approval' }).id).status).toBe('decided');
    expect(decide(gates({ gates: { node_gate: 'auto' } }, { kind: 'node_gate' }).id).status).toBe('decided');

    const undeclared: readonly (readonly [Policies, Partial<InterruptedQuestion>])[] = [
      [{}, {}],
      [{ gates: null }, {}],
      [{ gates: { design: 'human' } }, {}],
      [{ gates: { design: true } }, {}],
      [{ gates: { dag: 'auto' } }, {}],
      [{ gates: { design: 'auto' } }, { kind: 'node_gate' }],
    ];
    for (const [declared, overrides] of undeclared) {
      expect(() => decide(gates(declared, overrides).id)).toThrow(withCode('POLICY_NOT_DECLARED'));
    }
  });

  test('says who answered before, what and when', ({ db }) => {
    const session = aRunWithGate(db);
    const { manager } = aManager(db);
    manager.decide(session.id, APPROVE);
    const late = { ...APPROVE, answer: { approved: false, feedback: 'Too late.' } };
    expect(() => manager.decide(session.id, late)).toThrow(
      expect.objectContaining({
        code: 'GATE_ALREADY_DECIDED',
        message: expect.stringMatching(/human:reviewer-1 at 1970-01-01T00:00:00.001Z/),
        context: {
          sessionId: session.id,
          decision: '{"approved":true}',
          principal: 'human:reviewer-1',
          decidedAt: 1,
        },
      }),
    );
  });

  test('moves the failure gate of the task to history, so that it can trip again', ({ db }) => {
    const { manager } = aManager(db);
    const gate = new TaskFailureGate({ db, manager, events: new EventBus() });
    const { sessionId } = gate.open({ taskId: 't1', threadId: 'run-1', reason: 'entropy_limit' });
    aRunWithGate(db, { kind: 'task_failure', taskId: 't1', questionKey: sessionId });
    manager.decide(sessionId, { ...APPROVE, answer: { action: 'retry', guidance: 'Smaller steps.' } });
    expect(gate.getGateStatus('t1')).toBeNull();
    expect(new FailureGateStore(db).historyOf('t1')).toMatchObject([{ sessionId, resolution: 'retry' }]);
  });

  test('leaves the failure gate of the task alone when another kind is answered', ({ db }) => {
    const { manager } = aManager(db);
    const gate = new TaskFailureGate({ db, manager, events: new EventBus() });
    gate.open({ taskId: 'run-1', threadId: 'run-1', reason: 'entropy_limit' });
    manager.decide(aRunWithGate(db).id, APPROVE);
    expect(gate.getGateStatus('run-1')).not.toBeNull();
  });

  test('is refused as a mistake of the program when principal or hash are not even that', ({ db }) => {
    const session = aRunWithGate(db);
    const { manager } = aManager(db);
    const bad: readonly object[] = [
      { by: undefined },
      { by: { kind: 'human' } },
      { by: { kind: 'human', id: '' } },
      { by: { kind: 'Human', id: 'x' } },
      { by: { kind: '__proto__', id: 'x' } },
      { artifactHash: undefined },
    ];
    for (const part of bad) {
      expect(() => manager.decide(session.id, { ...APPROVE, ...part } as SessionDecision)).toThrow(TypeError);
    }
    expect(manager.listPendingSessions()).toHaveLength(1);
  });
});

describe('a refused decision writes nothing:', () => {
  const REJECT_SILENTLY = { approved: false };
  const cases: readonly (readonly [string, string, Partial<SessionDecision>])[] = [
    ['an agent', 'AGENT_MAY_NOT_DECIDE', { by: { kind: 'agent', id: 'developer' } }],
    ['an undeclared policy', 'POLICY_NOT_DECLARED', { by: { kind: 'policy', id: '--yes' } }],
    ['an answer of another kind', 'INVALID_ANSWER', { answer: { action: 'retry' } }],
    ['an over-long answer', 'INVALID_ANSWER', { answer: { approved: true, feedback: 'x'.repeat(65_537) } }],
    ['a rejection without feedback', 'FEEDBACK_REQUIRED', { answer: REJECT_SILENTLY }],
    ['another hash', 'GATE_STALE', { artifactHash: 'b'.repeat(64) }],
  ];

  for (const [what, code, part] of cases) {
    test(`${what} is ${code}, and the next valid decision works`, ({ db }) => {
      const session = aRunWithGate(db);
      const { manager, heard } = aManager(db);
      const before = everyRow(db);
      expect(() => manager.decide(session.id, { ...APPROVE, ...part })).toThrow(withCode(code));
      expect(everyRow(db)).toBe(before);
      expect(heard).toEqual([]);
      expect(manager.decide(session.id, APPROVE).status).toBe('decided');
    });
  }

  test('an unknown session is GATE_NOT_FOUND', ({ db }) => {
    expect(() => aManager(db).manager.decide('nobody', APPROVE)).toThrow(withCode('GATE_NOT_FOUND'));
  });

  test('a session that is not bound to an interrupt yet is GATE_NOT_READY', ({ db }) => {
    aRunWithGate(db);
    const { manager } = aManager(db);
    const decision = { ...APPROVE, answer: { action: 'retry' } };
    for (const options of [{ threadId: 'run-1', artifactHash: ARTIFACT_HASH }, {}]) {
      const { id } = manager.pause(undefined, 't1', options);
      const before = everyRow(db);
      expect(() => manager.decide(id, decision)).toThrow(withCode('GATE_NOT_READY'));
      expect(everyRow(db)).toBe(before);
    }
  });

  test('a withdrawn session is GATE_STALE, a second answer GATE_ALREADY_DECIDED', ({ db }) => {
    const { manager } = aManager(db);
    const first = aRunWithGate(db);
    const again = aRunWithGate(db, { interruptId: 'i-2' });
    expect(() => manager.decide(first.id, APPROVE)).toThrow(withCode('GATE_STALE'));
    manager.decide(again.id, APPROVE);
    const before = everyRow(db);
    expect(() => manager.decide(again.id, APPROVE)).toThrow(withCode('GATE_ALREADY_DECIDED'));
    expect(everyRow(db)).toBe(before);
  });

  test('a run that is not in the file is THREAD_NOT_FOUND, and the session stays open', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    const { session } = sessions.openForInterrupt({
      threadId: 'raw',
      interruptId: 'i-1',
      questionKey: 'k',
      kind: 'node_gate',
      taskId: 'raw',
      artifactHash: ARTIFACT_HASH,
      question: {},
      checkpointId: null,
    });
    expect(() => aManager(db).manager.decide(session.id, APPROVE)).toThrow(withCode('THREAD_NOT_FOUND'));
    expect(sessions.require(session.id).status).toBe('awaiting_approval');
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
  });

  test('checks come in a fixed order: who, what, then which', ({ db }) => {
    const session = aRunWithGate(db);
    const { manager } = aManager(db);
    manager.decide(session.id, APPROVE);
    const wrong = { artifactHash: 'b'.repeat(64), answer: { action: 'retry' } };
    const codes = [
      { ...wrong, by: { kind: 'agent', id: 'a' } as const },
      { ...wrong, by: HUMAN },
      { ...wrong, by: HUMAN, answer: { approved: true } },
    ].map((decision) => {
      try {
        manager.decide(session.id, decision);
        return 'none';
      } catch (error) {
        return (error as { code: string }).code;
      }
    });
    expect(codes).toEqual(['AGENT_MAY_NOT_DECIDE', 'INVALID_ANSWER', 'GATE_ALREADY_DECIDED']);
  });
});

describe('several processes', () => {
  test('that decide the same gates at once record one decision each, and the losers see whose', async ({
    db,
    dbPath,
  }) => {
    const gates = 25;
    const ids = Array.from(
      { length: gates },
      (_, n) => aRunWithGate(db, { interruptId: `i-${n}`, questionKey: `k-${n}` }).id,
    );
    const children = ['a', 'b', 'c', 'd'].map(
      (name) => new Child(DECIDE, dbPath, name, ARTIFACT_HASH, ...ids),
    );
    onTestFinished(async () => {
      await Promise.all(children.map((child) => child.kill()));
    });
    await Promise.all(children.map((child) => child.read()));
    for (const child of children) child.send('decide');
    const answers = await Promise.all(children.map((child) => child.read<readonly string[]>()));

    const sessions = new HitlSessionStore(db);
    for (const [n, id] of ids.entries()) {
      const winner = sessions.require(id).principal?.id;
      const told = answers.map((answer) => answer[n]);
      expect(told.filter((outcome) => outcome === 'decided')).toHaveLength(1);
      expect(told.filter((outcome) => outcome === `human:${winner}`)).toHaveLength(children.length - 1);
    }
    expect(sessions.countDecisions()).toBe(gates);
    expect(new ThreadStore(db).require('run-1').wakeSeq).toBe(gates);
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
  });
});
