import type { PriceTable } from '../../config/prices.ts';
import type { Reserve, StepUsage } from '../../state/StepStore.ts';
import { type CallUsage, callUsage, sumOf, totalUsage, type UsageReport, usageInstead } from './usage.ts';

const NOTHING: Reserve = { usd: 0, tokens: 0 };

/**
 * What a call says it used while it is made. The figures are an agent's own: one that cannot be is not added up, and does not
 * cost the result that was paid for.
 */
export class UsageReports {
  readonly #taken: CallUsage[] = [];
  readonly #refused: string[] = [];
  readonly #reserve: Reserve;

  /** @param reserve - What the budget holds back for the call. */
  constructor(reserve: Reserve = NOTHING) {
    this.#reserve = reserve;
  }

  /** Why each report that was refused was. */
  get refused(): readonly string[] {
    return this.#refused;
  }

  add(report: UsageReport): void {
    try {
      this.#taken.push(callUsage(report));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#refused.push(error.message);
    }
  }

  total(prices: PriceTable): StepUsage {
    const taken = totalUsage(this.#taken, prices);
    return this.#refused.length === 0 ? taken : sumOf(taken, usageInstead(this.#reserve));
  }
}
