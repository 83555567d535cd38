import type { EventName, OrchestratorEvents } from '@devs/core';
import { describe, expect, it } from 'vitest';
import { sentence } from '../sentence.ts';

type Examples = { readonly [Name in EventName]: readonly [OrchestratorEvents[Name], string | null] };

const guard = { guard: 'budget', measure: 'calls', level: 8, limit: 10, evidence: {} };

/** One example of every event, so that a new one needs words. */
const EXAMPLES: Examples = {
  RECURSION_DEPTH_WARNING: [{ depth: 20, limit: 25 }, '20 of 25 steps without progress'],
  RECURSION_LIMIT_REACHED: [{ depth: 25, limit: 25 }, 'stopped after 25 steps without progress'],
  HITL_SESSION_OPENED: [
    { sessionId: '3f2a91c0-0000', kind: 'dag_approval', taskId: 'csv' },
    'gate opened: plan (3f2a91c0)',
  ],
  AGENT_ASKED: [
    { node: 'implement', step: 'implement', title: 'rm -rf /', granted: false, why: 'outside the folder' },
    'refused the agent: rm -rf / (outside the folder)',
  ],
  GATE_ASKED: [
    { sessionId: 's1', kind: 'dag_approval', principal: 'human:ada', question: 'Why two tasks?' },
    'question about plan, by human:ada: Why two tasks?',
  ],
  HITL_SESSION_DECIDED: [
    { sessionId: 's', kind: 'review', principal: 'human:ada' },
    'gate decided: code review, by human:ada',
  ],
  GATE_VOTED: [
    { sessionId: 's', kind: 'node_gate', principal: 'human:ada', votes: 1, needed: 2 },
    'approval 1 of 2: node approval, by human:ada',
  ],
  HITL_ANSWER_VOIDED: [
    { sessionId: 's', kind: 'interrupt', principal: 'human:ada', artifactHash: '9b74', shows: '3f2a' },
    'answer discarded: question changed after human:ada answered; asking again',
  ],
  HITL_ANSWER_REFUSED: [
    { sessionId: 's', kind: 'node_gate', principal: 'human:ada' },
    'answer rejected: node approval does not accept the answer of human:ada; asking again',
  ],
  GATE_SHOWN: [
    { sessionId: 's', kind: 'dag_approval', principal: 'human:ada', artifactHash: '9b74' },
    'gate viewed: plan, by human:ada',
  ],
  GATE_REVEALED: [
    {
      sessionId: 's',
      kind: 'dag_approval',
      principal: 'human:ada',
      artifactHash: '9b',
      count: 2,
      places: '3f',
    },
    'hidden text of a gate viewed: plan, 2 places, by human:ada',
  ],
  FAILURE_GATE_OPENED: [{ taskId: 'csv:1', sessionId: 's' }, 'stuck: waiting for a person to decide'],
  CHECKPOINT_SAVE_FAILED: [{ nodeName: 'design', message: 'no' }, 'journal entry of design lost: no'],
  RUN_DEGRADED: [{ reason: 'no' }, 'run continues with an incomplete journal'],
  NODE_STARTED: [{ node: 'design', attempt: 1 }, null],
  NODE_FINISHED: [{ node: 'distill', durationMs: 1 }, 'plan written'],
  STEP_FINISHED: [{ node: 'implement', step: 'base', attempt: 1 }, null],
  TRANSCRIPT_LOST: [
    { node: 'implement', step: 'review', message: 'no' },
    'transcript of review is incomplete: no',
  ],
  NODE_FAILED: [{ node: 'design', message: 'no' }, 'design failed: no'],
  TASK_COMPLETED: [{ taskId: 'csv:1', name: 'Parse', gitHash: 'd4181fd00' }, 'committed d4181fd: Parse'],
  TASK_FAILED: [{ taskId: 'csv:1', name: 'Parse', final: false }, 'attempt failed'],
  TASK_SKIPPED: [{ taskId: 'csv:1', name: 'Parse' }, 'skipped: Parse'],
  TASK_REOPENED: [{ taskId: 'csv:1', name: 'Parse' }, 'reopened: Parse'],
  TASK_BLOCKED: [
    { taskId: 'csv:1', name: 'Parse' },
    'blocked: a task it depends on was abandoned or skipped',
  ],
  PIVOTED: [{ taskId: 'csv:1', strategy: 'smaller' }, 'new strategy: smaller'],
  REWOUND: [
    {
      targetTaskId: 'csv:1',
      undone: 2,
      tasks: ['csv:2', 'csv:3'],
      principal: 'human:ada',
      reason: 'wrong way',
    },
    'rewound to T1 by human:ada, undone: T2, T3: wrong way',
  ],
  REWIND_UNDONE: [{ targetTaskId: 'csv:1', principal: 'human:ada' }, 'rewind to T1 undone by human:ada'],
  AGENTS_CHANGED: [
    { started: 'openai:a (live)', now: 'openai:b (live)' },
    'agents changed: now openai:b (live), started with openai:a (live)',
  ],
  SANDBOX_WAIVED: [{ principal: 'human:ada' }, 'sandbox skipped this time, by human:ada'],
  WORKSPACE_RESCUED: [
    { ref: 'refs/devs/rescued/1', commit: 'c', files: 2 },
    "saved 2 changed files from the run's folder; to see them: git show refs/devs/rescued/1",
  ],
  CHANGES_ADOPTED: [
    { principal: 'human:ada', commit: 'd4181fd00', files: 2 },
    'committed d4181fd: 2 files changed by human:ada',
  ],
  RUN_SYNCED: [
    { principal: 'human:ada', base: 'd4181fd00', commits: 2 },
    'moved onto your commit d4181fd, by human:ada',
  ],
  RUN_RECOVERED: [{ owner: '1:2', epoch: 3 }, 'recovered after its process died'],
  STOP_REQUESTED: [
    { stop: 'abort', principal: 'human:ada' },
    'pause requested, with calls in flight aborted, by human:ada',
  ],
  RUN_REVIVED: [{ principal: 'human:ada' }, 'revived by human:ada'],
  RUN_FORKED: [
    { from: 'post-42', checkpointId: 'c', principal: 'human:ada' },
    'forked from post-42 by human:ada',
  ],
  RUN_IMPORTED: [
    { principal: 'human:ada', checkpointId: 'c', checkpoints: 3, sha256: 'a', footprint: 'b' },
    'imported from another checkpointer by human:ada: 3 checkpoint(s)',
  ],
  STATE_UPDATED: [
    { principal: 'human:ada', checkpointId: 'c', channels: ['draft', 'title'], node: 'write' },
    'state updated by human:ada: draft, title',
  ],
  RETRIED: [{ node: 'design', attempt: 2, message: 'timeout' }, 'design retried (attempt 2): timeout'],
  GUARD_WARNED: [guard, 'requests: 8 of 10'],
  GUARD_TRIPPED: [guard, 'limit reached: requests, 8 of 10'],
  GUARD_SUPPRESSED: [guard, null],
  GOAL_SET: [{ goal: 'only T4' }, 'goal set: only T4'],
  GOAL_REACHED: [{ goal: 'only T4', reason: 'T4 is finished' }, 'stopped at the goal: T4 is finished'],
  RUN_SUSPENDED: [{ gates: 1 }, 'waiting at a gate'],
  GATE_REMINDED: [
    { sessionId: '0123456789', kind: 'node_gate', within: 1000 },
    'reminder: gate 01234567 is still open',
  ],
  GATE_REASSIGNED: [
    { sessionId: '0123456789', kind: 'node_gate', within: 1000, to: ['ada', 'bob'] },
    'gate 01234567 reassigned to ada, bob',
  ],
  TIMER_FIRED: [
    { purpose: 'sleep', dueAt: '2026-01-02T00:00:00.000Z' },
    'timer fired, due 2026-01-02T00:00:00.000Z',
  ],
  SIGNAL_PASSED_OVER: [
    { id: 'decision:s-1', kind: 'decision', why: 'it was asked again.' },
    'ignored a decision: it was asked again.',
  ],
  SIGNAL_RECEIVED: [
    { name: 'payment', signalId: 'e-1', principal: 'policy:bank' },
    'signal payment received from policy:bank',
  ],
  SIGNAL_TAKEN: [{ name: 'payment', signalId: 'e-1' }, 'signal payment delivered'],
  RUN_REMOVED: [{ id: 'sum', principal: 'human:ada' }, 'run sum removed by human:ada'],
  RUN_FINISHED: [{ outcome: 'completed' }, 'ended: completed'],
  GRAPH_ACCEPTED: [
    { principal: 'human:ada', changes: 'node "check" is new', fingerprint: 'f' },
    'changed graph accepted by human:ada: node "check" is new',
  ],
  GRAPH_TAKEN: [
    { changes: 'node "check" is new', fingerprint: 'f' },
    'continued on a changed graph: node "check" is new',
  ],
  LEASE_LOST: [{ epoch: 3 }, 'lease lost: another process took over the run'],
  USAGE_REFUSED: [
    { node: 'implement', step: 'code', reason: 'Expected tokensIn.' },
    'usage reported by code ignored: Expected tokensIn.',
  ],
  CALL_NOT_RECORDED: [
    { node: 'agent', what: 'model', name: 'gpt-5' },
    'agent called model gpt-5 outside of a step',
  ],
  SECRET_REDACTED: [{ place: 'step design', count: 2 }, '2 secrets masked in step design'],
};

describe('sentence', () => {
  it.each(Object.keys(EXAMPLES) as readonly EventName[])('has words for %s, or none on purpose', (name) => {
    const [payload, words] = EXAMPLES[name];
    expect(sentence(name, payload)).toBe(words);
  });

  const decided = { sessionId: 's', kind: 'budget', principal: 'human:ada' } as const;

  it.each<[Partial<OrchestratorEvents['HITL_SESSION_DECIDED']>, string]>([
    [{ edited: true }, 'gate edited: budget, by human:ada'],
    [{ said: 'rejected', words: 'too long' }, 'gate rejected: budget, by human:ada: too long'],
    [{ said: 'retry' }, 'gate answered (retry): budget, by human:ada'],
    [{ kind: 'baseline', said: 'first-task' }, 'gate answered (first-task): failing checks, by human:ada'],
    [
      { said: 'raise', raised: { usd: 1, tokens: 2, calls: 3, ms: 4_500 } },
      'budget raised by $1, 2 tokens, 3 requests, 4.5 s, by human:ada',
    ],
    [
      { kind: 'review', said: 'rejected', tasks: ['T1', 'T2'] },
      'gate rejected: code review, redo T1, T2, by human:ada',
    ],
  ])('says what was decided: %j', (payload, words) => {
    expect(sentence('HITL_SESSION_DECIDED', { ...decided, ...payload })).toBe(words);
  });

  it('of one thing it does not speak as of many', () => {
    expect(sentence('TASK_FAILED', { taskId: 'csv:1', name: 'Parse', final: true })).toBe('task abandoned');
    expect(sentence('CHANGES_ADOPTED', { principal: 'human:ada', commit: 'd4181fd00', files: 1 })).toContain(
      ': 1 file changed',
    );
    expect(sentence('WORKSPACE_RESCUED', { ref: 'r', commit: 'c', files: 1 })).toContain('1 changed file');
    expect(
      sentence('AGENT_ASKED', { node: 'n', step: 's', title: 'Read', granted: true, why: 'inside' }),
    ).toMatch(/^allowed/);
    expect(sentence('NODE_FINISHED', { node: 'mine', durationMs: 1 })).toBe('mine done');
    expect(sentence('GUARD_WARNED', { ...guard, measure: 'mine' })).toBe('mine: 8 of 10');
  });
});
