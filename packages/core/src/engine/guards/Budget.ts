import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';

/** What a run, or one task, may use up before a human is asked. */
export interface BudgetLimits {
  /** US dollars. */
  readonly usd?: number;
  /** In and out together. */
  readonly tokens?: number;
  /** Steps that are calls; one that threw and was made again counts twice. */
  readonly calls?: number;
  /** Milliseconds of driving; waiting for humans is none. */
  readonly ms?: number;
}

/** Declared when a run starts, and part of its record. */
export interface Budget extends BudgetLimits {
  /** The same for every task by itself. */
  readonly perTask?: BudgetLimits;
}

export type BudgetMeasure = keyof BudgetLimits;

/** In the order in which a limit that was passed is named first. */
export const BUDGET_MEASURES: readonly BudgetMeasure[] = ['usd', 'tokens', 'calls', 'ms'];

const budgetSchema = lateSchema(() => {
  const count = z.exactOptional(z.int().positive());
  const limits = { usd: z.exactOptional(z.number().positive()), tokens: count, calls: count, ms: count };
  return z.strictObject({ ...limits, perTask: z.exactOptional(z.strictObject(limits)) });
});

/** @throws RangeError if a limit is no positive number: compared with NaN, nothing is too much. */
export function parseBudget(budget: unknown): Budget {
  const parsed = budgetSchema().safeParse(budget);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RangeError(`budget.${issue?.path.join('.') ?? ''} must be a valid limit: ${issue?.message}.`);
}
