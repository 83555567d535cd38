import { describe, expect, it } from 'vitest';
import { GATE_CHOICES } from '../gateAnswers.ts';

describe('yes and no', () => {
  it.each(['design_approval', 'dag_approval', 'review', 'node_gate'] as const)(
    'approve or send back at %s',
    (kind) => {
      const { approve, reject } = GATE_CHOICES[kind];
      expect(approve('ignored')).toEqual({ approved: true });
      expect(reject('why')).toEqual({ approved: false, feedback: 'why' });
    },
  );

  it('retry or give up a stuck task', () => {
    const { approve, reject } = GATE_CHOICES.task_failure;
    expect(approve('look at the parser')).toEqual({ action: 'retry', guidance: 'look at the parser' });
    expect(reject('not worth it')).toEqual({ action: 'skip', guidance: 'not worth it' });
  });

  it('go on or end the run without progress, and without budget', () => {
    expect(GATE_CHOICES.recursion_limit.approve(undefined)).toEqual({ action: 'continue' });
    expect(GATE_CHOICES.recursion_limit.reject('why')).toEqual({ action: 'abort' });
    expect(GATE_CHOICES.budget.approve(undefined)).toEqual({ action: 'raise' });
    expect(GATE_CHOICES.budget.reject('why')).toEqual({ action: 'abort' });
  });
});
