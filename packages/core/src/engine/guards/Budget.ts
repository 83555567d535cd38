import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import type { Reserve, Spending } from '../../state/steps/StepStore.ts';

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

type BudgetMeasure = keyof BudgetLimits;

/** In the order in which a limit that was passed is named first. */
const BUDGET_MEASURES: readonly BudgetMeasure[] = ['usd', 'tokens', 'calls', 'ms'];

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

/** What counts against a limit: spent, and held back for calls in flight. */
export interface Used extends Spending {
  /** Milliseconds driven. */
  readonly ms: number;
}

/** One limit and how a call that is about to be made stands to it. */
export interface LimitUse {
  readonly measure: BudgetMeasure;
  readonly limit: number;
  readonly spent: number;
  /** Held back for calls in flight. */
  readonly reserved: number;
  /** What the call itself may take. */
  readonly next: number;
}

/** How the next call stands to every limit that is declared. */
export function limitUses(limits: BudgetLimits, used: Used, next: Reserve): readonly LimitUse[] {
  const uses: Readonly<Record<BudgetMeasure, Omit<LimitUse, 'measure' | 'limit'>>> = {
    usd: { spent: used.usd - used.reservedUsd, reserved: used.reservedUsd, next: next.usd },
    tokens: { spent: used.tokens - used.reservedTokens, reserved: used.reservedTokens, next: next.tokens },
    calls: { spent: used.calls, reserved: 0, next: 1 },
    ms: { spent: used.ms, reserved: 0, next: 0 },
  };
  return BUDGET_MEASURES.flatMap((measure) => {
    const limit = limits[measure];
    return limit === undefined ? [] : [{ measure, limit, ...uses[measure] }];
  });
}

/**
 * Whether the call must not be made: it could take more than is left, or nothing is left. What is in flight counts
 * with what is held back for it, so calls that run side by side cannot overspend together.
 */
export function isPassed({ limit, spent, reserved, next }: LimitUse): boolean {
  return spent + reserved >= limit || spent + reserved + next > limit;
}

/** What a call holds back: what it declares, else as much as the largest call so far, else nothing. */
export function reserveOf(declared: Partial<Reserve>, used: Spending): Reserve {
  return { usd: declared.usd ?? used.largestUsd, tokens: declared.tokens ?? used.largestTokens };
}

/** Limits with what humans have added to them. */
export function raisedLimits(limits: BudgetLimits, raises: readonly BudgetLimits[]): BudgetLimits {
  const declared = BUDGET_MEASURES.filter((measure) => limits[measure] !== undefined);
  const sum = (measure: BudgetMeasure): number =>
    raises.reduce((total, raise) => total + (raise[measure] ?? 0), limits[measure] ?? 0);
  return Object.fromEntries(declared.map((measure) => [measure, sum(measure)]));
}
