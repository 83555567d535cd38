import { tmpdir } from 'node:os';
import type { Gate, Run } from '@devs/core';
import { describe, expect, test } from 'vitest';
import type { ChoiceName } from '../../../gates/gateWords.ts';
import type { Session } from '../../../project/Session.ts';
import type { Io } from '../../../terminal/Io.ts';
import { promptDecision } from '../promptDecision.ts';

const GATE: Gate = {
  sessionId: '3f2a91c0-0000-4000-8000-000000000000',
  threadId: 'csv',
  kind: 'review',
  taskId: 'csv',
  artifactHash: '9b74c9897bac770f'.repeat(4),
  message: 'Read it.',
  artifact: { documents: [] },
  openedAt: '2026-01-02T03:04:05.000Z',
};

const reviewOf = (...taskIds: readonly string[]) => ({
  tasks: taskIds.map((taskId) => ({ taskId })),
  range: { to: 'f'.repeat(40) },
  rejections: [],
});

const IO: Io = {
  stdin: (async function* () {})(),
  stdout: { write: () => {} },
  stderr: { write: () => {} },
  env: { EDITOR: 'true' },
  cwd: tmpdir(),
  signal: new AbortController().signal,
};

/** Decides with a person who says these lines and then ends the input; their editor changes nothing. */
async function decided(choice: ChoiceName, lines: readonly string[], artifact: unknown = GATE.artifact) {
  const left = [...lines];
  const session = { io: IO } as Partial<Session> as Session;
  const open = { run: {} as Run, gate: { ...GATE, artifact } };
  return promptDecision(choice, open, async () => left.shift() ?? null, session);
}

describe('a choice at the prompt', () => {
  test('is decided with the words that go with it', async () => {
    expect(await decided('approve', [])).toEqual({ choice: 'approve', answer: { approved: true } });
    expect(await decided('retry', ['look twice'])).toMatchObject({
      choice: 'retry',
      answer: { action: 'retry', guidance: 'look twice' },
    });
    expect(await decided('value', ['[1]'])).toEqual({ choice: 'value', answer: { value: [1] } });
    expect(await decided('abort', [])).toBeNull();
  });

  test('of a rejection needs feedback, from the line or the editor', async () => {
    const answer = { approved: false, feedback: 'Shorter', tasks: undefined };
    expect(await decided('reject', ['Shorter'])).toEqual({ choice: 'reject', answer });
    expect(await decided('reject', [''])).toBeNull();
    expect(await decided('reject', [])).toBeNull();
  });

  test.each([
    [['t1, T2'], ['T1', 'T2']],
    [[''], undefined],
  ])('of a review of several tasks asks which are done again: %j', async (lines, tasks) => {
    const artifact = reviewOf('csv:1', 'csv:2');
    expect(await decided('reject', ['Test it', ...lines], artifact)).toMatchObject({
      answer: { feedback: 'Test it', tasks },
    });
    expect(await decided('reject', ['Test it'], artifact)).toBeNull();
  });

  test('of a review of one task asks for no more', async () => {
    expect(await decided('reject', ['Test it'], reviewOf('csv:1'))).toMatchObject({
      answer: { approved: false, tasks: undefined },
    });
  });
});
