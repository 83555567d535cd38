import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAnswer, parseAnswer } from '../../engine/gates/engineGates.ts';
import type { HitlSessionKind } from '../../state/gates/hitlSession.ts';
import { PIPELINE_GATES } from '../gates/pipelineGates.ts';

const APPROVALS: readonly HitlSessionKind[] = ['design_approval', 'dag_approval', 'review', 'node_gate'];
const KINDS = Object.keys(PIPELINE_GATES) as HitlSessionKind[];
const KIB = 1024;

const parse = (kind: HitlSessionKind, answer: unknown) => parseAnswer(PIPELINE_GATES, kind, answer);
const fits = (kind: HitlSessionKind, value: unknown) => isAnswer(PIPELINE_GATES[kind], value);
const withCode = (code: string) => expect.objectContaining({ code });

const VALID: readonly (readonly [HitlSessionKind, object])[] = [
  ...APPROVALS.flatMap((kind) => [
    [kind, { approved: true }] as const,
    [kind, { approved: true, feedback: 'Fine.' }] as const,
    [kind, { approved: false, feedback: 'Name the errors.' }] as const,
  ]),
  ['task_failure', { action: 'retry' }],
  ['task_failure', { action: 'retry', guidance: 'Try another way.' }],
  ['task_failure', { action: 'skip' }],
  ['task_failure', { action: 'abort' }],
  ['task_failure', { action: 'skip', reason: 'Not worth it.' }],
  ['recursion_limit', { action: 'abort', reason: 'It goes in circles.' }],
  ['budget', { action: 'abort', reason: 'Too dear.' }],
  ['recursion_limit', { action: 'continue' }],
  ['recursion_limit', { action: 'abort' }],
  ['budget', { action: 'abort' }],
  ['budget', { action: 'raise', usd: 2.5 }],
  ['budget', { action: 'raise', tokens: 1000, calls: 3 }],
];

const INVALID: readonly (readonly [HitlSessionKind, unknown])[] = [
  ['design_approval', true],
  ['design_approval', null],
  ['design_approval', undefined],
  ['design_approval', []],
  ['design_approval', {}],
  ['design_approval', { approved: 'true' }],
  ['design_approval', { approved: 1 }],
  ['design_approval', { approved: true, feedback: 7 }],
  ['design_approval', { approved: true, approvedBy: 'me' }],
  ['design_approval', { approved: true, for: 'another/key' }],
  ['design_approval', JSON.parse('{"approved":true,"__proto__":{"approved":false}}')],
  ['dag_approval', { action: 'continue' }],
  ['dag_approval', { approved: true, feedback: 'x'.repeat(64 * KIB + 1) }],
  ['dag_approval', { approved: true, feedback: 'é'.repeat(32 * KIB + 1) }],
  ['task_failure', { action: 'continue' }],
  ['task_failure', { approved: true }],
  ['task_failure', { action: 'retry', guidance: 'x'.repeat(64 * KIB + 1) }],
  ['recursion_limit', { action: 'retry' }],
  ['recursion_limit', { action: 'continue', grant: 1000 }],
  ['budget', { action: 'raise' }],
  ['budget', { action: 'raise', usd: 0 }],
  ['budget', { action: 'raise', usd: -1 }],
  ['budget', { action: 'raise', usd: Number.NaN }],
  ['budget', { action: 'raise', usd: Number.POSITIVE_INFINITY }],
  ['budget', { action: 'raise', calls: 1.5 }],
  ['budget', { action: 'abort', usd: 1 }],
];

describe('parseAnswer', () => {
  test.each(VALID)('accepts for %s: %j', (kind, answer) => {
    expect(parse(kind, answer)).toEqual(answer);
    expect(fits(kind, answer)).toBe(true);
  });

  test.each(INVALID)('refuses for %s: %j', (kind, answer) => {
    expect(() => parse(kind, answer)).toThrow(withCode('INVALID_ANSWER'));
  });

  test.each(APPROVALS)('wants a rejection of %s to say why', (kind) => {
    for (const feedback of [undefined, '', ' \n\t']) {
      expect(() => parse(kind, { approved: false, feedback })).toThrow(withCode('FEEDBACK_REQUIRED'));
    }
  });

  test('accepts text of exactly 64 KiB', () => {
    const feedback = 'x'.repeat(64 * KIB);
    expect(parse('review', { approved: false, feedback })).toEqual({ approved: false, feedback });
  });

  test('takes an undefined field for an absent one', () => {
    expect(parse('review', { approved: true, feedback: undefined })).toEqual({ approved: true });
  });

  test('names the wrong fields, never what they hold', () => {
    const refused = () => parse('review', { approved: 'hunter2', secret: 'hunter2' });
    expect(refused).toThrow(/approved/);
    expect(refused).not.toThrow(/hunter2/);
  });

  test('either gives a plain answer of its kind or a typed error, whatever it is given', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), fc.anything(), (kind, value) => {
        try {
          expect(fits(kind, parse(kind, value))).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({
            code: expect.stringMatching(/^(INVALID_ANSWER|FEEDBACK_REQUIRED)$/),
          });
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('isAnswer', () => {
  test('knows a recorded approval by who gave it and when', () => {
    const recorded = { approved: true, approvedBy: 'reviewer-1', approvedAt: '2026-01-01T00:00:00.000Z' };
    expect(fits('design_approval', recorded)).toBe(true);
    expect(fits('task_failure', recorded)).toBe(false);
  });

  test('refuses what only looks like an answer', () => {
    for (const value of [null, undefined, 'yes', { approved: true, extra: 1 }, { for: 'key', value: {} }]) {
      expect(fits('node_gate', value)).toBe(false);
    }
  });
});
