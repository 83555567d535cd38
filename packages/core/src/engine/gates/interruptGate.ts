import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { assertFitsSchema } from './fitsSchema.ts';
import type { GateRule } from './GateRule.ts';
import { storable } from './storable.ts';

// An answer to a bare `interrupt()`: any plain JSON, which is what the call returns.

const given = lateSchema(() => z.strictObject({ value: storable() }));

export const interruptGate = {
  given,
  recorded: given,
  shape: '{ value: … }, plain JSON: the value for interrupt() to return',
  policyName: null,
  assertFits: assertFitsSchema,
} satisfies GateRule;
