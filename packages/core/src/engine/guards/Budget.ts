import { z } from 'zod';
import {
  BUDGET_MEASURE_NAMES,
  BUDGET_MEASURES,
  type BudgetLimits,
  type BudgetMeasure,
  eachMeasure,
} from '../../config/budgetMeasures.ts';
import { lateSchema } from '../../config/lateSchema.ts';
import type { Reserve } from '../../state/steps/stepRecords.ts';
import type { Spending } from '../../state/steps/stepSpending.ts';

/** Limits of a run, stored when it starts. */
export interface Budget extends BudgetLimits {
  /** The same limits for each task. */
  readonly perTask?: BudgetLimits;
}

/** The amounts of an object that has one for each measure: of a budget, or of the answer that raises it. */
export const measureAmounts = lateSchema(() =>
  z.object(eachMeasure(({ kind }) => z.exactOptional((kind === 'money' ? z.number() : z.int()).positive()))),
);

const budgetSchema = lateSchema(() => {
  const limits = measureAmounts().shape;
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
    // How many requests a call makes is known when it has ended: it may be as many as the longest so far.
    calls: { spent: used.calls, reserved: 0, next: used.largestCalls },
    ms: { spent: used.ms, reserved: 0, next: 0 },
  };
  return BUDGET_MEASURE_NAMES.flatMap((measure) => {
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
  const declared = BUDGET_MEASURE_NAMES.filter((measure) => limits[measure] !== undefined);
  const sum = (measure: BudgetMeasure): number =>
    raises.reduce((total, raise) => total + (raise[measure] ?? 0), limits[measure] ?? 0);
  return Object.fromEntries(declared.map((measure) => [measure, sum(measure)]));
}

/** The limits that calls of child runs use up, too. */
export function limitsAbove(limits: BudgetLimits): BudgetLimits {
  const kept = BUDGET_MEASURE_NAMES.filter(
    (measure) => limits[measure] !== undefined && BUDGET_MEASURES[measure].countsAbove,
  );
  return Object.fromEntries(kept.map((measure) => [measure, limits[measure]]));
}
