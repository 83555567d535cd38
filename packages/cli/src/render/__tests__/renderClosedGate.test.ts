import { type ClosedGate, shownGate } from '@devs/core';
import { expect, test } from 'vitest';
import { lineText } from '../../terminal/Line.ts';
import { renderClosedGate } from '../renderClosedGate.ts';

const BY = { principal: 'human:ada', decidedAt: '2026-01-02T03:05:00.000Z' } as const;

function ends(closed: Partial<ClosedGate>): readonly string[] {
  const lines = renderClosedGate(
    shownGate<ClosedGate>({
      sessionId: '3f2a91c0-0000-4000-8000-000000000000',
      threadId: 'csv',
      kind: 'design_approval',
      taskId: 'csv',
      artifactHash: '9b74c9897bac770f'.repeat(4),
      message: 'Read it.',
      artifact: { documents: [] },
      openedAt: '2026-01-02T03:04:05.000Z',
      status: 'decided',
      principal: null,
      decidedAt: null,
      decision: null,
      ...closed,
    } as ClosedGate),
    ['you: why?', 'agent: because'],
  ).map(lineText);
  expect(lines.slice(0, 3)).toEqual([
    'Gate 3f2a91c0: design of csv',
    'opened 2026-01-02T03:04:05.000Z, hash 9b74c9897bac',
    'Read it.',
  ]);
  return lines.slice(lines.indexOf('agent: because') + 1);
}

test.each<[string, Partial<ClosedGate>, readonly string[]]>([
  [
    'decided',
    { ...BY, decision: { approved: false, feedback: 'shorter', tasks: ['T1'] } },
    [
      'Decided by human:ada at 2026-01-02T03:05:00.000Z; the run has not applied it yet:',
      '  approved: false',
      '  feedback: shorter',
      '  tasks: [\n  "T1"\n]',
    ],
  ],
  [
    'resumed',
    { ...BY, status: 'resumed', decision: { approved: true } },
    ['Decided by human:ada at 2026-01-02T03:05:00.000Z:', '  approved: true'],
  ],
  ['resumed by nobody', { status: 'resumed' }, ['Continued without a decision.']],
  [
    'superseded after a decision',
    { ...BY, status: 'superseded' },
    [
      'Decided by human:ada at 2026-01-02T03:05:00.000Z, then withdrawn: the gate was asked again, or the run was rewound.',
    ],
  ],
  ['superseded', { status: 'superseded' }, ['Withdrawn: the gate was asked again, or the run was rewound.']],
  [
    'cancelled after a decision',
    { ...BY, status: 'cancelled' },
    ['Decided by human:ada at 2026-01-02T03:05:00.000Z; the run has ended:'],
  ],
  ['cancelled', { status: 'cancelled' }, ['Withdrawn: the run has ended.']],
])('a gate that is %s says what became of it', (_name, closed, words) => {
  expect(ends(closed)).toEqual(words);
});
