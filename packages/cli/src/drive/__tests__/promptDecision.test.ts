import type { Gate, Run } from '@devs/core';
import { describe, expect, test } from 'vitest';
import type { ChoiceName } from '../../gates/gateLabels.ts';
import type { Decision } from '../../gates/recordDecision.ts';
import type { Session } from '../../project/Session.ts';
import { promptDecision } from '../driveAsking.ts';

type HitlSessionKind = Gate['kind'];

const review = (...taskIds: readonly string[]) => ({
  tasks: taskIds.map((taskId) => ({ taskId })),
  rejections: [],
  range: { to: 'f00' },
});

/** What a person decides who types `lines`; an editor that they open ends with an error. */
async function decided(
  choice: ChoiceName,
  lines: readonly string[],
  { kind = 'review', artifact = null }: { readonly kind?: HitlSessionKind; readonly artifact?: unknown } = {},
): Promise<Decision | null> {
  const left = [...lines];
  const gate: Gate = {
    sessionId: '3f2a91c0-0000-4000-8000-000000000000',
    threadId: 'csv',
    kind,
    taskId: 'csv:2',
    artifactHash: '9b74c989',
    message: 'Read it.',
    artifact,
    openedAt: '2026-01-02T03:04:05.000Z',
  };
  const session = { io: { env: { EDITOR: 'false' } } } as unknown as Session;
  const read = async (): Promise<string | null> => left.shift() ?? null;
  return promptDecision(choice, { run: {} as Run, gate }, read, session);
}

describe('what goes with a choice', () => {
  test('a yes needs no words', async () => {
    expect(await decided('approve', [])).toEqual({ choice: 'approve', answer: { approved: true } });
  });

  test('a no says what should change', async () => {
    const rejected = { choice: 'reject', answer: { approved: false, feedback: 'name the columns' } };
    expect(await decided('reject', ['name the columns'])).toEqual(rejected);
    expect(await decided('reject', ['name the columns'], { artifact: review('csv:1') })).toEqual(rejected);
  });

  test('of a review of several tasks, a no names those that are done again', async () => {
    const artifact = review('csv:1', 'csv:2');
    const answer = { approved: false, feedback: 'no tests' };
    expect(await decided('reject', ['no tests', 't1, t2'], { artifact })).toEqual({
      choice: 'reject',
      answer: { ...answer, tasks: ['T1', 'T2'] },
    });
    expect(await decided('reject', ['no tests', ''], { artifact })).toEqual({ choice: 'reject', answer });
    expect(await decided('reject', ['no tests'], { artifact })).toBeNull();
  });

  test('a no without words opens the editor; one that fails decides nothing', async () => {
    await expect(decided('reject', [''])).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(await decided('reject', [])).toBeNull();
  });

  test('other choices take the words that are theirs', async () => {
    expect(await decided('abort', ['too late'], { kind: 'task_failure' })).toMatchObject({
      choice: 'abort',
      answer: { action: 'abort', reason: 'too late' },
    });
    expect(await decided('value', ['{"to":"ada"}'], { kind: 'interrupt' })).toEqual({
      choice: 'value',
      answer: { value: { to: 'ada' } },
    });
    expect(await decided('retry', [], { kind: 'task_failure' })).toBeNull();
  });
});
