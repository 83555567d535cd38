import type { ClosedGate, Gate } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { exactComments } from '../../routes/gateRoutes.ts';
import type { ReadableRun } from '../../state/RunsPlace.ts';
import { choiceButtons, gateLabel } from '../choices.ts';
import { runView } from '../runView.ts';
import { shownView } from '../shownView.ts';

type HitlSessionKind = Gate['kind'];

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
  test('a text is masked, and what cannot be seen of it is spelled out, once', async () => {
    const view = { 'na\u200Bme': ['pay\u202Eeve', { password: 'Tr0ub4dor-and-3-canaries' }], at: null, n: 1 };
    expect(await shownView(view)).toEqual({
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
      choiceButtons({ kind: 'node_gate', artifact: null, ...(takes && { takes }) }).map(({ name }) => name);
    expect(names()).toEqual(['approve', 'reject']);
    expect(names({ gate: 'publish', value: true })).toEqual(['value', 'reject']);
    expect(names({ gate: 'publish', edit: 'artifact' })).toEqual(['approve', 'reject', 'version']);
    const unknown = 'of another release' as HitlSessionKind;
    expect(gateLabel(unknown)).toEqual({ name: unknown, choices: [] });
  });

  test('a choice is filled in from what its gate shows, where there is something to choose', () => {
    const formsAt = (kind: HitlSessionKind, artifact: unknown) =>
      Object.fromEntries(choiceButtons({ kind, artifact }).map(({ name, form }) => [name, form]));
    const limit = { measure: 'usd', limit: 2, spent: 2, taskId: null };
    expect(formsAt('budget', { limits: [limit, { ...limit, limit: 1, taskId: 'a' }] })).toEqual({
      raise: { kind: 'raise', sums: [{ measure: 'usd', limit: 1 }] },
      abort: undefined,
    });
    expect(formsAt('review', { taskIds: ['shop:task:1'] })['reject']).toBeUndefined();
    expect(formsAt('review', { taskIds: ['shop:task:1', 'shop:task:2'] })['reject']).toEqual({
      kind: 'tasks',
      names: ['T1', 'T2'],
    });
    expect(formsAt('baseline', { failing: ['a', 'b'] })['accept']).toEqual({
      kind: 'failures',
      names: ['a', 'b'],
    });
    expect(formsAt('baseline', null)['accept']).toBeUndefined();
    expect(formsAt('interrupt', null)['value']).toEqual({ kind: 'value' });
  });

  test("a question of LangChain's middleware has buttons for a yes and a no", () => {
    const gate = { kind: 'interrupt', artifact: null } as const;
    const named = (...decisions: readonly ('approve' | 'edit' | 'reject')[]) =>
      choiceButtons({ ...gate, decisions }).map(({ name, answer }) => [name, answer]);
    expect(named('approve', 'edit', 'reject')).toEqual([
      ['approve', { approved: true }],
      ['reject', { approved: false }],
      ['value', {}],
    ]);
    expect(named('edit')).toEqual([['value', {}]]);
    expect(choiceButtons(gate).map(({ name }) => name)).toEqual(['value']);
  });

  test('what was spelled out for a reader is quoted as it stands there, or left to be refused', () => {
    const text = 'one\npay \u202Eeve\u202C now\nlast\u200B line';
    const places = [{ names: ['TAS', 'id'], texts: [text] as const }];
    const quoted = (quote: string, line?: number) =>
      exactComments([{ in: 'TAS', quote, text: 'No.', ...(line && { line }) }], places, 's')[0]?.quote;
    expect(quoted('one', 1)).toBe('one');
    expect(quoted('⟨U+202E⟩eve', 2)).toBe('pay \u202Eeve\u202C now');
    expect(quoted('now\nlast⟨U+200B⟩', 2)).toBe('pay \u202Eeve\u202C now\nlast\u200B line');
    expect(quoted('⟨U+202E⟩eve', 1)).toBe('⟨U+202E⟩eve');
    expect(quoted('⟨U+202E⟩eve')).toBe('⟨U+202E⟩eve');
    const [elsewhere] = exactComments([{ in: 'PRD', quote: '⟨U+202E⟩', text: 'No.' }], places, 's');
    expect(elsewhere?.quote).toBe('⟨U+202E⟩');
  });
});
