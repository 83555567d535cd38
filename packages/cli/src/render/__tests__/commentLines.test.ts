import { type ClosedGate, type Run, shownGate } from '@devs/core';
import { expect, test } from 'vitest';
import { lastCommentLines } from '../gateTalk.ts';
import { renderClosedGate } from '../renderClosedGate.ts';
import { formatDecision } from '../sentence.ts';

type LastComment = Awaited<ReturnType<Run['lastComments']>>[number];

const said = (since: LastComment['since'], place = 'TAS', line?: number): LastComment => ({
  in: place,
  quote: 'One.\nTwo.\n',
  ...(line !== undefined && { line }),
  text: 'Why?\nHow?',
  by: 'human:ada',
  at: '2026-01-01T00:00:00.000Z',
  sessionId: '3f2a91c0',
  since,
});

const textsOf = (comments: readonly LastComment[]): readonly string[] =>
  lastCommentLines(comments).map((line) => (typeof line === 'string' ? line : line.text));

test('what became of comments is told beside what they quote', () => {
  expect(textsOf([])).toEqual([]);
  const [title, ...rest] = textsOf([said('gone', 'TAS', 3), said('unknown', '')]);
  expect(title).toContain('not covered by the hash');
  const body = ['> One.', '> Two.', 'human:ada: Why?', 'How?', ''];
  expect(rest).toEqual([
    'TAS, line 3: deleted since',
    ...body,
    'the gate: unknown: the code cannot be read here',
    ...body,
  ]);
});

test('a closed gate tells its comments and, unless it was the command line, the way', () => {
  const gate = {
    sessionId: '3f2a91c0-1',
    threadId: 'shop',
    kind: 'node_gate',
    taskId: 'shop',
    artifactHash: 'f'.repeat(64),
    message: 'Approve.',
    artifact: 'One.',
    openedAt: '2026-01-01T00:00:00.000Z',
    status: 'resumed',
    decision: { approved: false, comments: [{ in: '', quote: 'One.', text: 'Why?' }] },
    principal: 'human:ada',
    decidedAt: '2026-01-02T00:00:00.000Z',
    via: 'page',
  } as const satisfies ClosedGate;
  const lines = renderClosedGate(shownGate<ClosedGate>(gate), []).map((line) =>
    typeof line === 'string' ? line : line.text,
  );
  expect(lines.slice(-5)).toEqual([
    'Decided by human:ada via page at 2026-01-02T00:00:00.000Z:',
    '  approved: false',
    '  on the gate:',
    '    > One.',
    '    Why?',
  ]);
  const told = { sessionId: 's', kind: 'node_gate', principal: 'human:ada', said: 'rejected' };
  expect(formatDecision({ ...told, via: 'command', comments: 1 })).toBe('rejected, 1 comment, by human:ada');
});
