import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { EventBus } from '../../../events/events.ts';
import { PIPELINE_GATES } from '../../../orchestration/gates/pipelineGates.ts';
import { aQuestion, HASH } from '../../../state/__tests__/aQuestion.ts';
import { aThread } from '../../../state/__tests__/aThread.ts';
import { EngineStore } from '../../gates/EngineStore.ts';
import { decideByPolicy } from '../driverGates.ts';

const policies = { gates: { design: 'auto', dag: 'human' } };

describe('a declared policy', () => {
  test('approves the gates it covers and leaves the others to people', ({ db }) => {
    const store = new EngineStore(db, { events: new EventBus(), rules: PIPELINE_GATES });
    store.threads.create(aThread({ policies }));
    const design = store.sessions.openForInterrupt(aQuestion()).session;
    const dag = store.sessions.openForInterrupt(
      aQuestion({ kind: 'dag_approval', interruptId: 'i-2', questionKey: 'dag_approval/lg-2' }),
    ).session;

    expect(decideByPolicy([design, dag], policies, store)).toBe(true);
    expect(store.sessions.require(design.id)).toMatchObject({
      status: 'decided',
      artifactHash: HASH,
      principal: { kind: 'policy', id: 'design_approval=auto' },
    });
    expect(store.sessions.require(dag.id).status).toBe('awaiting_approval');
    expect(decideByPolicy([dag], policies, store)).toBe(false);
  });

  test('approves nothing that shows nothing', ({ db }) => {
    const store = new EngineStore(db, { events: new EventBus(), rules: PIPELINE_GATES });
    store.threads.create(aThread({ policies }));
    const { session } = store.sessions.openForInterrupt(aQuestion());
    expect(() => decideByPolicy([{ ...session, artifactHash: null }], policies, store)).toThrow(
      expect.objectContaining({ code: 'GATE_STALE' }),
    );
    expect(store.sessions.require(session.id).status).toBe('awaiting_approval');
  });
});
