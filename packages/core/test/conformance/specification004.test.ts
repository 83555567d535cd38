import { expect, vi } from 'vitest';
import { createInitialState, HumanInTheLoopManager, TaskFailureGate } from '../../src/index.ts';
import { test } from '../support/fixtures.ts';

// What specification 004 says of TaskFailureGate, from the exported names alone.

const AT = '2026-01-02T03:04:05.000Z';
const graphState = createInitialState({
  projectId: 'p',
  name: 'P',
  description: '',
  status: 'implementing',
  createdAt: AT,
  updatedAt: AT,
});

test('evaluate calls pause with the state and the task, and nothing else', async ({ db }) => {
  const manager = new HumanInTheLoopManager(db);
  const pause = vi.spyOn(manager, 'pause');
  const gate = new TaskFailureGate({ db, manager });
  const result = await gate.evaluate({ entropyScore: 0.8, taskId: 't1', threshold: 0.75, graphState });
  expect(await gate.evaluate({ entropyScore: 0.9, taskId: 't1', graphState })).toEqual(result);
  expect(pause.mock.calls).toEqual([[graphState, 't1']]);

  const { sessionId } = gate.getGateStatus('t1') ?? {};
  expect(result).toEqual({ triggered: true, sessionId });
  expect(manager.listPendingSessions()).toMatchObject([
    { id: sessionId, taskId: 't1', kind: 'task_failure' },
  ]);
  expect(manager.resume(String(sessionId))).toEqual(graphState);
});
