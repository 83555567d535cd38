import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { leaseFence } from '../commits/immediateTransaction.ts';
import { HitlSessionStore, type RecordedDecision } from '../gates/HitlSessionStore.ts';
import { aQuestion, HASH, OTHER_HASH } from './aQuestion.ts';
import { decideAndLog } from './decideAndLog.ts';

function aDecision(id: string, overrides: Partial<RecordedDecision> = {}): RecordedDecision {
  const principal = { kind: 'human', id: 'reviewer-1' } as const;
  return { id, artifactHash: HASH, decision: { approved: true }, principal, ...overrides };
}

const UNBOUND = {
  id: 's-1',
  taskId: 'run-1:1',
  kind: 'task_failure',
  threadId: 'run-1',
  graphStateJson: '{}',
  artifactHash: null,
} as const;

describe('a question that LangGraph suspends on', () => {
  test('gets one session however often its node is executed', ({ db }) => {
    const sessions = new HitlSessionStore(db, { now: () => 3 });
    const first = sessions.openForInterrupt(aQuestion());
    const again = sessions.openForInterrupt(aQuestion({ questionKey: 'changed' }));
    expect(first.opened).toBe(true);
    expect(again).toEqual({ session: first.session, opened: false, voided: [], refused: null });
    expect(first.session).toMatchObject({
      status: 'awaiting_approval',
      threadId: 'run-1',
      interruptId: 'i-1',
      artifactHash: HASH,
      question: { message: 'Approve?', artifact: { documents: [] } },
      evidence: null,
      decision: null,
      principal: null,
      suspendedAt: 3,
    });
    expect(sessions.findByInterrupt('run-1', 'i-1')).toEqual(first.session);
    expect(sessions.findByInterrupt('run-2', 'i-1')).toBeNull();
  });

  test('that is asked again under a new interrupt supersedes its older session', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    const older = sessions.openForInterrupt(aQuestion()).session;
    const other = sessions.openForInterrupt(aQuestion({ interruptId: 'i-2', questionKey: 'dag' })).session;
    const newer = sessions.openForInterrupt(aQuestion({ interruptId: 'i-3' })).session;
    expect(sessions.require(older.id).status).toBe('superseded');
    expect(sessions.listOpen('run-1').map(({ id }) => id)).toEqual([other.id, newer.id]);
  });

  test('that is asked again leaves a recorded decision alone', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    const { session } = sessions.openForInterrupt(aQuestion());
    decideAndLog(db, aDecision(session.id), sessions);
    sessions.openForInterrupt(aQuestion({ interruptId: 'i-2' }));
    expect(sessions.require(session.id).status).toBe('decided');
  });

  test.for(['decided', 'resumed'] as const)(
    'that shows something else now voids an answer that was %s, and no other',
    (status, { db }) => {
      const sessions = new HitlSessionStore(db);
      const answered = (overrides = {}) => {
        const { session } = sessions.openForInterrupt(aQuestion(overrides));
        decideAndLog(db, aDecision(session.id), sessions);
        return session;
      };
      const older = answered();
      const other = answered({ interruptId: 'i-2', questionKey: 'dag' });
      if (status === 'resumed') sessions.markResumed('run-1', []);
      expect(sessions.require(older.id).status).toBe(status);
      const asked = sessions.openForInterrupt(aQuestion({ interruptId: 'i-3', artifactHash: OTHER_HASH }));
      expect(asked.voided).toMatchObject([{ id: older.id, status: 'superseded' }]);
      expect(sessions.require(other.id).status).toBe(status);
    },
  );

  test.for([
    ['interrupt', true],
    ['node_gate', true],
    ['design_approval', false],
  ] as const)(
    'of kind %s gives its place to one that shows something else: %s',
    ([kind, isCleared], { db }) => {
      const sessions = new HitlSessionStore(db);
      const { session } = sessions.openForInterrupt(aQuestion({ kind }));
      decideAndLog(db, aDecision(session.id), sessions);
      const asked = sessions.openForInterrupt(aQuestion({ kind, artifactHash: OTHER_HASH }));
      expect(asked.opened).toBe(isCleared);
      expect(asked.voided.map(({ id }) => id)).toEqual(isCleared ? [session.id] : []);
      expect(asked.session.artifactHash).toBe(isCleared ? OTHER_HASH : HASH);
      expect(sessions.require(session.id).status).toBe(isCleared ? 'superseded' : 'decided');
    },
  );

  test('binds the session a guard opened before instead of opening another', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    sessions.insertUnbound({ ...UNBOUND, evidence: { entropyScore: 0.9 } });
    const question = aQuestion({ kind: 'task_failure', taskId: 'run-1:1', questionKey: 's-1' });
    const { session, opened } = sessions.openForInterrupt(question);
    expect(opened).toBe(false);
    expect(session).toMatchObject({
      id: 's-1',
      interruptId: 'i-1',
      questionKey: 's-1',
      artifactHash: HASH,
      evidence: { entropyScore: 0.9 },
    });
    expect(sessions.listOpen()).toHaveLength(1);
  });

  test('does not bind a session of another run, task or kind, or a closed one', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    sessions.insertUnbound({ ...UNBOUND, threadId: 'run-2' });
    const question = aQuestion({ kind: 'task_failure', taskId: 'run-1:1', questionKey: 's-1' });
    expect(sessions.openForInterrupt(question).opened).toBe(true);
    expect(sessions.openForInterrupt({ ...question, threadId: 'run-2', taskId: 'x' }).opened).toBe(true);
    expect(
      sessions.openForInterrupt({ ...question, threadId: 'run-2', kind: 'budget', interruptId: 'i-2' })
        .opened,
    ).toBe(true);
    expect(sessions.require('s-1')).toMatchObject({ interruptId: null, status: 'awaiting_approval' });
  });

  test('leaves nothing behind when the driver was replaced', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    expect(() =>
      sessions.openForInterrupt(aQuestion(), leaseFence(db, { threadId: 'run-1', epoch: 1 })),
    ).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
    expect(sessions.listOpen()).toEqual([]);
  });
});

describe('a decision', () => {
  test('is recorded once', ({ db }) => {
    const sessions = new HitlSessionStore(db, { now: () => 8 });
    const { id } = sessions.openForInterrupt(aQuestion()).session;
    expect(decideAndLog(db, aDecision(id), sessions)).toBe(true);
    expect(decideAndLog(db, aDecision(id, { decision: { approved: false } }), sessions)).toBe(false);
    expect(sessions.require(id)).toMatchObject({
      status: 'decided',
      decision: { approved: true },
      principal: { kind: 'human', id: 'reviewer-1' },
      decidedAt: 8,
    });
    expect([
      sessions.countDecisions(),
      sessions.countDecisions('run-1'),
      sessions.countDecisions('run-2'),
    ]).toEqual([1, 1, 0]);
  });

  test('is refused for another hash, an unbound session and an unknown one', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    const { id } = sessions.openForInterrupt(aQuestion()).session;
    sessions.insertUnbound({ ...UNBOUND, artifactHash: HASH });
    expect(decideAndLog(db, aDecision(id, { artifactHash: OTHER_HASH }), sessions)).toBe(false);
    expect(decideAndLog(db, aDecision('s-1'), sessions)).toBe(false);
    expect(decideAndLog(db, aDecision('nobody'), sessions)).toBe(false);
    expect(sessions.countDecisions()).toBe(0);
  });

  test('counts as taken up when its interrupt is no longer listed', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    const ids = ['i-1', 'i-2', 'i-3'].map((interruptId) => {
      const { id } = sessions.openForInterrupt(aQuestion({ interruptId, questionKey: interruptId })).session;
      if (interruptId !== 'i-3') decideAndLog(db, aDecision(id), sessions);
      return id;
    });
    expect(sessions.markResumed('run-1', ['i-2', 'i-3'])).toBe(1);
    expect(ids.map((id) => sessions.require(id).status)).toEqual(['resumed', 'decided', 'awaiting_approval']);
    expect(sessions.markResumed('run-1', [])).toBe(1);
    expect(sessions.require(ids[2] ?? '').status).toBe('awaiting_approval');
  });
});

describe('sessions', () => {
  test('are listed oldest first, also within one millisecond', ({ db }) => {
    const sessions = new HitlSessionStore(db, { now: () => 1 });
    for (const id of ['c', 'a', 'b']) sessions.insertUnbound({ ...UNBOUND, id, taskId: id });
    expect(sessions.listOpen().map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    expect(sessions.listOpen('run-2')).toEqual([]);
    expect(sessions.findOpenForTask('a', 'task_failure', 'run-1')?.id).toBe('a');
    expect(sessions.findOpenForTask('a', 'task_failure', null)).toBeNull();
    expect(sessions.findOpenForTask('a', 'budget', 'run-1')).toBeNull();
  });

  test('that are open are withdrawn together; answered ones stay', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    const { id } = sessions.openForInterrupt(aQuestion()).session;
    decideAndLog(db, aDecision(id), sessions);
    sessions.insertUnbound(UNBOUND);
    sessions.insertUnbound({ ...UNBOUND, id: 's-2', threadId: 'run-2' });
    expect(sessions.supersedeOpen('run-1')).toMatchObject([{ id: 's-1', status: 'superseded' }]);
    expect(sessions.supersedeOpen('run-2', 'cancelled')).toMatchObject([{ id: 's-2', status: 'cancelled' }]);
    expect(sessions.require(id).status).toBe('decided');
  });

  test('that are unknown are null to find and an error to require', ({ db }) => {
    const sessions = new HitlSessionStore(db);
    const notFound = expect.objectContaining({ code: 'GATE_NOT_FOUND' });
    expect(sessions.find('x')).toBeNull();
    expect(() => sessions.require('x')).toThrow(notFound);
    expect(() => sessions.graphStateJson('x')).toThrow(notFound);
  });
});
