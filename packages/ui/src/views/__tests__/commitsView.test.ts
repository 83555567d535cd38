import type { ClosedGate, Gate, PipelineRunInfo } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { commitsView } from '../commitsView.ts';

const task = (n: number, gitHash: string | null): PipelineRunInfo['tasks'][number] => ({
  ...{ taskId: `r:${n}`, label: `T${n}`, name: `Task ${n}`, gitHash },
  status: gitHash === null ? 'pending' : 'completed',
});

/** Of a task and its commit each; with as many commits as there are. */
const review = (sessionId: string, shown: Readonly<Record<string, string>>): Gate => ({
  ...{ sessionId, threadId: 'r', kind: 'review', taskId: 'r', artifactHash: '', message: '' },
  artifact: {
    tasks: Object.entries(shown).map(([taskId, commit]) => ({ taskId, commit })),
    range: { commits: Object.values(shown), total: { files: 1, added: 7, removed: 2 } },
  },
  openedAt: '2026-01-01T00:00:00.000Z',
});

const closed = (gate: Gate, decision: unknown, principal: string | null): ClosedGate => ({
  ...gate,
  ...{ status: 'resumed', decision, principal, decidedAt: null },
});

describe('the commits of a run', () => {
  test('are those of its tasks, the latest first, each with what was said of exactly this commit', () => {
    const lines = commitsView(
      [task(1, 'a2'), task(2, 'b1'), task(3, 'c1'), task(4, 'd1'), task(5, null)],
      [review('open', { 'r:3': 'c1' })],
      [
        closed(review('first', { 'r:1': 'a1' }), { approved: true }, 'human:eve'),
        closed(review('both', { 'r:1': 'a2', 'r:2': 'b1' }), { approved: true }, 'human:ada'),
        closed(review('moved', { 'r:2': 'b0' }), { approved: false }, 'human:ada'),
        closed({ ...review('other', { 'r:4': 'd1' }), kind: 'node_gate' }, { approved: true }, 'human:ada'),
      ],
    );
    expect(lines.map(({ label, sha }) => [label, sha])).toEqual([
      ['T4', 'd1'],
      ['T3', 'c1'],
      ['T2', 'b1'],
      ['T1', 'a2'],
    ]);
    expect(lines.map(({ state, by, sessionId, size }) => [state, by, sessionId, size])).toEqual([
      ['committed', null, null, null],
      ['waits', null, 'open', { added: 7, removed: 2 }],
      ['approved', 'human:ada', 'both', null],
      ['approved', 'human:ada', 'both', null],
    ]);
  });

  test('a review that was sent back or withdrawn says so of its commit', () => {
    const sent = closed(review('s', { 'r:1': 'a' }), { approved: false }, 'human:ada');
    const taken = closed(review('t', { 'r:2': 'b' }), null, null);
    const lines = commitsView([task(1, 'a'), task(2, 'b')], [], [sent, taken]);
    expect(lines.map(({ state, by, sessionId }) => [state, by, sessionId])).toEqual([
      ['committed', null, 't'],
      ['sent back', 'human:ada', 's'],
    ]);
  });
});
