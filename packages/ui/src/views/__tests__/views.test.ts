import type { ClosedGate, Gate, HitlSessionKind } from '@devs/core';
import { describe, expect, test } from 'vitest';
import type { ReadableRun } from '../../state/RunsFile.ts';
import { choicesAt, wordsOf } from '../choices.ts';
import { runView } from '../runView.ts';
import { shownView } from '../shownView.ts';

const gate = (kind: HitlSessionKind, rest: Partial<ClosedGate> = {}): ClosedGate => ({
  ...{ sessionId: 's', threadId: 't', kind, taskId: 't', artifactHash: 'h', message: '', artifact: null },
  ...{ openedAt: '', status: 'resumed', decision: null, principal: null, decidedAt: null },
  ...rest,
});

const saidOf = async (kind: HitlSessionKind, decision: unknown) => {
  const run = {
    status: async () => ({ gates: [], tasks: [] }),
    state: async () => null,
    steps: async () => [],
    closedGates: async () => [gate(kind, { decision })],
  } as unknown as ReadableRun;
  return runView(run);
};

describe('views', () => {
  test('a text is masked, and what cannot be seen of it is spelled out, once', () => {
    const view = { 'na\u200Bme': ['pay\u202Eeve', { password: 'Tr0ub4dor-and-3-canaries' }], at: null, n: 1 };
    expect(shownView(view)).toEqual({
      'na⟨U+200B⟩me': ['pay⟨U+202E⟩eve', { password: expect.stringContaining('REDACTED') }],
      at: null,
      n: 1,
    });
  });

  test.for([
    ['design_approval', { approved: true }, 'approved'],
    ['design_approval', { approved: false, feedback: 'No.' }, 'sent back'],
    ['design_approval', null, null],
    ['task_failure', { action: 'retry' }, 'Try again'],
    ['task_failure', { action: 'of another release' }, 'of another release'],
    ['interrupt', { value: 1 }, 'answered'],
  ] as const)('a decision on a %s, %j, is told as %s', async ([kind, decision, said]) => {
    const { past } = await saidOf(kind, decision);
    expect(past).toMatchObject([{ said }]);
  });

  test('no plain yes is offered where a value is wanted, and nothing at a gate of a kind that is not known', () => {
    const names = (takes?: Gate['takes']) =>
      choicesAt({ kind: 'node_gate', ...(takes && { takes }) }).map(({ name }) => name);
    expect(names()).toEqual(['approve', 'reject']);
    expect(names({ gate: 'publish', value: true })).toEqual(['reject']);
    const unknown = 'of another release' as HitlSessionKind;
    expect(wordsOf(unknown)).toEqual({ name: unknown, choices: [] });
  });
});
