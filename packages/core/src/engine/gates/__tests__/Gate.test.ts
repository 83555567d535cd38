import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { aQuestion } from '../../../state/__tests__/aQuestion.ts';
import { aThread } from '../../../state/__tests__/aThread.ts';
import { HitlSessionStore } from '../../../state/gates/HitlSessionStore.ts';
import type { HitlSession } from '../../../state/gates/hitlSession.ts';
import { ThreadStore } from '../../../state/threads/ThreadStore.ts';
import { hashOf } from '../../../values/canonicalJson.ts';
import { gateOf, listedGate } from '../Gate.ts';

describe('the gate of a session', () => {
  const session = (overrides: Partial<HitlSession>): HitlSession =>
    ({
      id: 's',
      threadId: 'run-1',
      kind: 'review',
      taskId: 't',
      suspendedAt: 0,
      ...overrides,
    }) as HitlSession;

  test('shows what was recorded, with the hash an answer binds to', () => {
    const artifact = { text: 'publish this' };
    const question = { message: 'Publish?', artifact };
    expect(gateOf(session({ question, artifactHash: hashOf(artifact) }))).toEqual({
      sessionId: 's',
      threadId: 'run-1',
      kind: 'review',
      taskId: 't',
      artifactHash: hashOf(artifact),
      message: 'Publish?',
      artifact,
      openedAt: '1970-01-01T00:00:00.000Z',
    });
  });

  test('takes a version of the `artifact`, as which it is recorded in another spelling', () => {
    const takes = { gate: 'publish', edit: 'artefact' } as const;
    const gate = gateOf(session({ question: { takes }, artifactHash: hashOf(null) }));
    expect(gate.takes).toEqual({ gate: 'publish', edit: 'artifact' });
    const ofToolCall = { takes: { gate: 'tools', edit: 'args' } };
    expect(gateOf(session({ question: ofToolCall, artifactHash: hashOf(null) }))).toMatchObject(ofToolCall);
    const inAList = { ...gate, takes: { ...takes, value: true } };
    expect(listedGate(JSON.stringify(inAList)).takes).toEqual({ ...gate.takes, value: true });
    expect(listedGate(JSON.stringify(gate))).toEqual(gate);
    const { takes: _, ...plain } = gate;
    expect(listedGate(JSON.stringify(plain))).toStrictEqual(plain);
    const artifact = {
      actionRequests: [{ name: 'mail', args: {} }],
      reviewConfigs: [{ actionName: 'mail', allowedDecisions: ['approve', 'reject'] }],
    };
    const asked = { ...plain, kind: 'interrupt', artifact };
    expect(listedGate(JSON.stringify(asked)).decisions).toEqual(['approve', 'reject']);
    expect(listedGate(JSON.stringify({ ...asked, kind: 'node_gate' })).decisions).toBeUndefined();
  });

  test('shows nothing where nothing was asked yet, or nothing is shown', () => {
    expect(gateOf(session({ threadId: null, question: null, artifactHash: null }))).toMatchObject({
      threadId: '',
      artifactHash: '',
      message: '',
      artifact: null,
    });
    expect(gateOf(session({ question: {}, artifactHash: hashOf(null) }))).toMatchObject({ artifact: null });
  });

  test('whose question was changed in the file is refused: nobody may approve what was not shown', ({
    db,
  }) => {
    new ThreadStore(db).create(aThread());
    const sessions = new HitlSessionStore(db);
    const { id } = sessions.openForInterrupt(aQuestion()).session;
    db.exec(`UPDATE hitl_sessions SET question_json = '{"message":"Publish?","artifact":"something else"}'`);
    expect(() => gateOf(sessions.require(id))).toThrow(expect.objectContaining({ code: 'STATE_CORRUPT' }));
  });
});
