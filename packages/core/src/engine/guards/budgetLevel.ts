import type { GuardLevel } from './GuardLevel.ts';
import type { ScopedUse } from './RunBudgets.ts';

/** A limit of a budget as its guard reports it; `episode` is the limit, which a human's answer raises. */
export function budgetLevel(use: ScopedUse, level: number): GuardLevel {
  const { measure, limit, spent, reserved, next } = use;
  return { measure, level, limit, episode: String(limit), evidence: { spent, reserved, next } };
}
