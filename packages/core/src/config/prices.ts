import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { DevsError } from '../errors/DevsError.ts';
import { lateSchema } from './lateSchema.ts';

/**
 * Tokens and cost of a call. Without `costUsd`, the cost is computed from the price of `model`; without a price it is
 * unknown.
 */
export interface CallUsage {
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  /** Part of `tokensIn` that the provider read from its cache. */
  readonly tokensCached?: number;
  readonly costUsd?: number;
  /** Requests to models that this report is about. @defaultValue 1 */
  readonly requests?: number;
  /** The provider's name of the model; a prefix `openai:` and a date are allowed. */
  readonly model?: string;
}

const priceTable = lateSchema(() => {
  const dollars = z.number().nonnegative();
  const price = z.strictObject({ input: dollars, output: dollars, cached: z.exactOptional(dollars) });
  return z.record(z.string().min(1), price);
});

/** What a model's tokens cost, in US dollars per million. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input tokens read from the provider's cache. @defaultValue as `input` */
  readonly cached?: number;
}

/** Prices by model name, without provider and date: `gpt-5-mini`. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

const OPUS_FROM_4_5: ModelPrice = { input: 5, output: 25, cached: 0.5 };
const SONNET_4: ModelPrice = { input: 3, output: 15, cached: 0.3 };

/**
 * List prices of some common models, without discounts and surcharges: of Claude as the vendor's price page had them in
 * October 2026 (platform.claude.com/docs/en/about-claude/pricing), of GPT as tables made from the vendor's page had them
 * in the same year. Models whose price depends on the length of the prompt are left out. Prices change: check them, and
 * give your own table where it matters.
 */
export const DEFAULT_PRICES: PriceTable = {
  'claude-haiku-4-5': { input: 1, output: 5, cached: 0.1 },
  'claude-opus-4-1': { input: 15, output: 75, cached: 1.5 },
  'claude-opus-4-5': OPUS_FROM_4_5,
  'claude-opus-4-6': OPUS_FROM_4_5,
  'claude-opus-4-7': OPUS_FROM_4_5,
  'claude-opus-4-8': OPUS_FROM_4_5,
  'claude-opus-5': OPUS_FROM_4_5,
  'claude-opus-5-5': { input: 4, output: 20, cached: 0.2 },
  'claude-sonnet-4': SONNET_4,
  'claude-sonnet-4-5': SONNET_4,
  'claude-sonnet-4-6': SONNET_4,
  'claude-sonnet-5': { input: 2, output: 10, cached: 0.2 },
  'claude-sonnet-5-5': { input: 2, output: 10, cached: 0.1 },
  'gpt-4o': { input: 2.5, output: 10, cached: 1.25 },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cached: 0.075 },
  'gpt-5': { input: 1.25, output: 10, cached: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cached: 0.025 },
  'gpt-5-nano': { input: 0.05, output: 0.4, cached: 0.005 },
  'gpt-5.1': { input: 1.25, output: 10, cached: 0.125 },
  'gpt-5.2': { input: 1.75, output: 14, cached: 0.175 },
};

/**
 * Reads a price table, a JSON file: `{ "my-model": { "input": 0.5, "output": 2, "cached": 0.05 } }`, in US dollars per
 * million tokens. Its models are added to {@link DEFAULT_PRICES} and win over them.
 *
 * @throws DevsError `CONFIG_INVALID` if it cannot be read or is no price table.
 */
export function loadPrices(file: string): PriceTable {
  const parsed = priceTable().safeParse(readPricesFile(file));
  if (!parsed.success) throw notPrices(file, z.prettifyError(parsed.error), parsed.error);
  return { ...DEFAULT_PRICES, ...parsed.data };
}

/** The price of a model by its name, which may carry a provider and a date: `openai:gpt-5-2025-08-07`. */
export function priceOf(model: string, prices: PriceTable): ModelPrice | null {
  const name = model.slice(Math.max(model.lastIndexOf(':'), model.lastIndexOf('/')) + 1);
  const undated = name.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '');
  const known = [model, name, undated].find((candidate) => Object.hasOwn(prices, candidate));
  return known === undefined ? null : (prices[known] ?? null);
}

/** A table as it is given: itself, the path of one, or none. @throws DevsError as {@link loadPrices}. */
export const pricesOf = (prices: PriceTable | string = DEFAULT_PRICES): PriceTable =>
  typeof prices === 'string' ? loadPrices(prices) : prices;

function readPricesFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    throw notPrices(file, error instanceof Error ? error.message : String(error), error);
  }
}

function notPrices(file: string, why: string, cause: unknown): DevsError {
  return new DevsError(`${file} is not a valid price table: ${why}`, {
    code: 'CONFIG_INVALID',
    remedy: 'Write a JSON object of models, each with `input` and `output` in US dollars per million tokens.',
    context: { file },
    cause,
  });
}
