import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { optionalText } from './approval.ts';
import { assertRaisesPassed } from './budgetAnswer.ts';
import type { GateRules } from './GateRule.ts';
import { interruptGate } from './interruptGate.ts';
import { nodeGate } from './nodeGate.ts';

const taskFailure = lateSchema(() =>
  z.strictObject({
    action: z.enum(['retry', 'skip', 'abort']),
    /** For the next attempts. */
    guidance: optionalText(),
    /** For the record: why it is given up. */
    reason: optionalText(),
  }),
);
const recursionLimit = lateSchema(() =>
  z.strictObject({ action: z.enum(['continue', 'abort']), reason: optionalText() }),
);
const budget = lateSchema(() => {
  const count = z.exactOptional(z.int().positive());
  return z.discriminatedUnion('action', [
    z.strictObject({ action: z.literal('abort'), reason: optionalText() }),
    z
      .strictObject({
        action: z.literal('raise'),
        usd: z.exactOptional(z.number().positive()),
        tokens: count,
        calls: count,
        ms: count,
      })
      .refine(({ usd, tokens, calls, ms }) => (usd ?? tokens ?? calls ?? ms) !== undefined, {
        error: 'Names none of usd, tokens, calls, ms',
      }),
  ]);
});

const stepAnswer = lateSchema(() =>
  z.strictObject({
    /** The recorded call is this one's, it is made again beside it, or the run ends. */
    action: z.enum(['use', 'repeat', 'abort']),
    reason: optionalText(),
  }),
);

/** The gates that any graph may stop at: what its author declared, and the guards. */
export const ENGINE_GATES = {
  node_gate: nodeGate,
  interrupt: interruptGate,
  task_failure: {
    given: taskFailure,
    recorded: taskFailure,
    shape: "{ action: 'retry', guidance? } or { action: 'skip' | 'abort', reason? }",
    policyName: null,
  },
  recursion_limit: {
    given: recursionLimit,
    recorded: recursionLimit,
    shape: "{ action: 'continue' } or { action: 'abort', reason? }",
    policyName: null,
  },
  budget: {
    given: budget,
    recorded: budget,
    shape: "{ action: 'raise', usd?, tokens?, calls?, ms? } or { action: 'abort', reason? }",
    policyName: null,
    assertFits: assertRaisesPassed,
  },
  step: {
    given: stepAnswer,
    recorded: stepAnswer,
    shape: "{ action: 'use' | 'repeat' } or { action: 'abort', reason? }",
    policyName: null,
  },
} satisfies GateRules;
