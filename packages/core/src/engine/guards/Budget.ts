import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';

/** Limits on the use of a run or a task before it asks. */
export interface BudgetLimits {
  /** US dollars. */
  readonly usd?: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  /** Number of calls. A call that threw and was repeated counts twice. */
  readonly calls?: number;
  /** Active time in milliseconds. Time spent waiting for people does not count. */
  readonly ms?: number;
}

/** Limits of a run, stored when it starts. */
export interface Budget extends BudgetLimits {
  /** The same limits for each task. */
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
