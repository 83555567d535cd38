import type { ClosedGate } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { renderClosedGate } from '../renderClosedGate.ts';

const closed = (what: Partial<ClosedGate>): ClosedGate => ({
  sessionId: '3f2a91c0-0000-4000-8000-000000000000',
  threadId: 'csv',
  kind: 'task_failure',
  taskId: 'csv:3',
  artifactHash: '9b74c9897bac770f'.repeat(4),
  message: 'The task failed.',
  artifact: { error: 'red' },
  openedAt: '2026-01-02T03:04:05.000Z',
  status: 'resumed',
  decision: null,
  principal: null,
  decidedAt: null,
  ...what,
});

/** From the line that says how the gate ended. */
function endOf(what: Partial<ClosedGate>): readonly string[] {
  const lines = renderClosedGate(closed(what), ['said: nothing']).map((line) =>
    typeof line === 'string' ? line : line.text,
  );
  expect(lines.slice(0, 3)).toEqual([
    'Gate 3f2a91c0: stuck task of csv',
    'opened 2026-01-02T03:04:05.000Z, hash 9b74c9897bac',
    'The task failed.',
  ]);
  return lines.slice(lines.indexOf('said: nothing') + 1);
}

const ADA = { principal: 'human:ada', decidedAt: '2026-01-02T03:05:00.000Z' };
const BY_ADA = 'Decided by human:ada at 2026-01-02T03:05:00.000Z';

describe('a gate of the past', () => {
  test.each([
    [{ status: 'decided', ...ADA }, `${BY_ADA}; the run has not taken it up yet:`],
    [{ status: 'resumed', ...ADA }, `${BY_ADA}:`],
    [{ status: 'resumed' }, 'Continued without a decision.'],
    [
      { status: 'superseded', ...ADA },
      `${BY_ADA}, then withdrawn: it was asked again, or the run was set back.`,
    ],
    [{ status: 'superseded' }, 'Withdrawn: it was asked again, or the run was set back.'],
    [{ status: 'cancelled', ...ADA }, `${BY_ADA}; the run has ended:`],
    [{ status: 'cancelled' }, 'Withdrawn: the run has ended.'],
  ] as const)('%j says how it ended', (what, words) => {
    expect(endOf(what)).toEqual([words]);
  });

  test('has each member of the decision as it was given', () => {
    const decision = { action: 'retry', guidance: 'Use the parser.', raise: { calls: 2 } };
    expect(endOf({ ...ADA, decision })).toEqual([
      `${BY_ADA}:`,
      '  action: retry',
      '  guidance: Use the parser.',
      '  raise: {\n  "calls": 2\n}',
    ]);
  });
});
