import { type CallUsage, type PriceTable, priceOf } from '../../config/prices.ts';
import type { Reserve, StepUsage } from '../../state/steps/stepRecords.ts';

export type { CallUsage };

/** LangChain's `usage_metadata` of a message, with the name of the model: `{ ...message.usage_metadata, model }`. */
export interface LangChainUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_token_details?: { readonly cache_read?: number | undefined } | undefined;
  readonly model?: string;
}

export type UsageReport = CallUsage | LangChainUsage;

/** More than any call can have read or written; a figure above it is a mistake, or a lie that would use up a budget. */
const MOST_TOKENS = 1_000_000_000;

/** Of one call. */
const MOST_REQUESTS = 1_000_000;

/** US dollars of one call. */
const MOST_USD = 10_000;

/**
 * Converts a report of usage into this library's form.
 *
 * @throws RangeError for an impossible figure, because a budget would add it up.
 */
export function callUsage(report: UsageReport): CallUsage {
  const usage = isLangChainUsage(report) ? fromLangChain(report) : report;
  const { tokensIn, tokensOut, tokensCached, costUsd, requests } = usage;
  const counts = { tokensIn, tokensOut, tokensCached };
  for (const [name, value] of Object.entries(counts))
    assertFigure(name, value, Number.isSafeInteger, MOST_TOKENS);
  assertFigure('costUsd', costUsd, Number.isFinite, MOST_USD);
  assertFigure('requests', requests, Number.isSafeInteger, MOST_REQUESTS);
  if (tokensCached === undefined || tokensCached <= (tokensIn ?? 0)) return usage;
  throw new RangeError(
    `Expected tokensCached to be part of tokensIn (${tokensIn ?? 0}), got ${tokensCached}.`,
  );
}

function assertFigure(
  name: string,
  value: number | undefined,
  isNumber: (value: unknown) => boolean,
  most: number,
): void {
  if (value === undefined || (isNumber(value) && value >= 0 && value <= most)) return;
  throw new RangeError(
    `Expected ${name} of a call to be a number from 0 to ${most}, got ${shortValue(value)}.`,
  );
}

/** What an agent gave for a number may be anything, of any length. */
const shortValue = (value: unknown): string =>
  String(typeof value === 'object' ? typeof value : value).slice(0, 40);

function fromLangChain(report: LangChainUsage): CallUsage {
  const { input_tokens, output_tokens, input_token_details, model } = report;
  const tokensCached = input_token_details?.cache_read;
  return {
    tokensIn: input_tokens,
    tokensOut: output_tokens,
    ...(tokensCached !== undefined && { tokensCached }),
    ...(model !== undefined && { model }),
  };
}

/**
 * What counts for a report that was refused: at least what was held back for its call, so that no figure makes a call cheaper
 * than one that says nothing wrong; what it really was is unknown.
 */
function usageInstead({ usd, tokens }: Reserve): StepUsage {
  return {
    ...(tokens > 0 && { tokensIn: tokens }),
    ...(usd > 0 && { costUsd: usd }),
    unpriced: 1,
    requests: 1,
  };
}

/** What one call's reports come to. A cost nobody reported is computed; where that cannot be done it is unknown. */
export function totalUsage(reports: readonly UsageReport[], prices: PriceTable): StepUsage {
  return reports.map((report) => priced(callUsage(report), prices)).reduce(addUsage, {});
}

function priced(usage: CallUsage, prices: PriceTable): StepUsage {
  const { tokensIn, tokensOut, requests = 1, costUsd = computedCost(usage, prices) } = usage;
  return {
    requests,
    ...(tokensIn !== undefined && { tokensIn }),
    ...(tokensOut !== undefined && { tokensOut }),
    ...(costUsd === null ? { unpriced: 1 } : { costUsd }),
  };
}

/** US dollars; `null` without the model's price or the tokens. Cached tokens are part of the input. */
function computedCost(
  { model, tokensIn, tokensOut, tokensCached = 0 }: CallUsage,
  prices: PriceTable,
): number | null {
  const price = model === undefined ? null : priceOf(model, prices);
  if (price === null || tokensIn === undefined || tokensOut === undefined) return null;
  const { input, output, cached = input } = price;
  return ((tokensIn - tokensCached) * input + tokensCached * cached + tokensOut * output) / 1_000_000;
}

function addUsage(left: StepUsage, right: StepUsage): StepUsage {
  const names = ['tokensIn', 'tokensOut', 'costUsd', 'unpriced', 'requests'] as const;
  const known = names.filter((name) => (left[name] ?? right[name]) !== undefined);
  return Object.fromEntries(known.map((name) => [name, (left[name] ?? 0) + (right[name] ?? 0)]));
}

function isLangChainUsage(report: UsageReport): report is LangChainUsage {
  return typeof report === 'object' && report !== null && 'input_tokens' in report;
}

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
    return this.#refused.length === 0 ? taken : addUsage(taken, usageInstead(this.#reserve));
  }
}
