import { type PriceTable, priceOf } from '../../config/prices.ts';
import type { StepUsage } from '../../state/StepStore.ts';

/** What a call used. Without `costUsd` the cost is computed from `model`'s price; without a price it is unknown. */
export interface CallUsage {
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  /** Part of `tokensIn`: read from the provider's cache. */
  readonly tokensCached?: number;
  readonly costUsd?: number;
  /** As the provider names it; a prefix `openai:` and a date are allowed. */
  readonly model?: string;
}

/** LangChain's `usage_metadata` of a message, with the name of the model: `{ ...message.usage_metadata, model }`. */
export interface LangChainUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_token_details?: { readonly cache_read?: number | undefined } | undefined;
  readonly model?: string;
}

export type UsageReport = CallUsage | LangChainUsage;

/**
 * A report in this library's words, whichever way it was given.
 *
 * @throws RangeError for a figure no call can have: a budget would add it up.
 */
export function callUsage(report: UsageReport): CallUsage {
  const usage = isLangChainUsage(report) ? fromLangChain(report) : report;
  for (const name of ['tokensIn', 'tokensOut', 'tokensCached'] as const) {
    assertFigure(name, usage[name], Number.isSafeInteger);
  }
  assertFigure('costUsd', usage.costUsd, Number.isFinite);
  return usage;
}

function assertFigure(name: string, value: number | undefined, isNumber: (value: unknown) => boolean): void {
  if (value === undefined || (isNumber(value) && value >= 0)) return;
  throw new RangeError(`Expected ${name} of a call to be a number of at least 0, got ${String(value)}.`);
}

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

/** What one call's reports come to. A cost nobody reported is computed; where that cannot be done it is unknown. */
export function totalUsage(reports: readonly UsageReport[], prices: PriceTable): StepUsage {
  return reports.map((report) => priced(callUsage(report), prices)).reduce(sumOf, {});
}

function priced(usage: CallUsage, prices: PriceTable): StepUsage {
  const { tokensIn, tokensOut, costUsd = computedCost(usage, prices) } = usage;
  return {
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

function sumOf(left: StepUsage, right: StepUsage): StepUsage {
  const names = ['tokensIn', 'tokensOut', 'costUsd', 'unpriced'] as const;
  const known = names.filter((name) => (left[name] ?? right[name]) !== undefined);
  return Object.fromEntries(known.map((name) => [name, (left[name] ?? 0) + (right[name] ?? 0)]));
}

function isLangChainUsage(report: UsageReport): report is LangChainUsage {
  return 'input_tokens' in report;
}
